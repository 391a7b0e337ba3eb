// Disentangled attention, forward (model.md#disentangled-attention; He et al. 2021, equation 4), one pack of sequences:
//   A[i,j] = scale * ( q_i . k_j  +  [c2p] q_i . Kr[row(i-j)]  +  [p2c] k_j . Qr[row(i-j)] )
//   P      = softmax over the allowed j; masked entries are exactly 0
//   O_i    = sum_j dropout(P)[i,j] v_j
// c2p and p2c read the same row(i-j). A query without any allowed key gets zeros, unless requested otherwise. fp32 or
// bf16 in and out, sums in fp32; the key bias must be in k (it does not cancel in p2c). An output depends on its own
// sequence and head alone, and on positions within the sequence, so packing, order and threads never change a bit.
// B sequences  T packed tokens  L queries, S keys of one sequence  H heads  K head size  R relative rows
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/attention_table.h"
#include "kernels/dispatch.h"
#include "kernels/dropout.h"
#include "kernels/rel_lut.h"

namespace deberta {

// All sequences one after the other, each [H, L, S]. Times scale, terms unmasked, probabilities before dropout. Null:
// not wanted. Reference only.
struct AttentionScoreOutputs {
  float* c2c = nullptr;
  float* c2p = nullptr;  // zeros without the term
  float* p2c = nullptr;
  float* probabilities = nullptr;
  bool is_wanted() const { return c2c != nullptr || c2p != nullptr || p2c != nullptr || probabilities != nullptr; }
};

struct AttentionParams {
  Precision precision = Precision::kFp32;  // q, k, v and out: fp32 or bf16
  HeadRows<const void> q, k, v;
  HeadRows<void> out;               // rows of queries
  size_t sequences = 0;             // B
  size_t heads = 0;                 // H
  size_t head_size = 0;             // K
  const int32_t* starts = nullptr;  // cu_seqlens [B + 1] of keys and values, from 0

  // Queries that differ from the keys: their own cu_seqlens (null: those of the keys) and the position of each query
  // row within its sequence, ascending in each (null: 0, 1, ...).
  const int32_t* query_starts = nullptr;
  const int32_t* query_positions = nullptr;

  double scale = 1;  // 1 / sqrt(d * n_types)
  bool has_c2p = false;
  bool has_p2c = false;
  RelativeTable kr, qr;         // packed for these kernels; kr reversed
  const RelLut* lut = nullptr;  // needed with a term, unless the call passes buckets
  // Given relative positions: bucket numbers b[L, S] for every sequence, at the query's position and the key:
  // row = clamp(b + R / 2, 0, R - 1).
  const int32_t* given_buckets_LS = nullptr;
  size_t given_stride = 0;   // elements between rows of b
  size_t relative_rows = 0;  // R; needed with given buckets

  // allowed(i, j) = query_mask[i] and key_mask[j] and bit j of the 3-D mask's row at the query's position. Null: all.
  // With is_causal also j <= the query's position.
  // A key that is not allowed may hold any bits. Only in bf16 must its value be finite where the 3-D mask or is_causal
  // alone hides it.
  const uint8_t* key_mask_T = nullptr;
  const uint8_t* query_mask_T = nullptr;
  // [L][ceil(S / 64)] words per sequence, bit j % 64 of word j / 64; null entry: all
  const uint64_t* const* masks_B = nullptr;
  bool is_causal = false;
  // A query without any allowed key gets the mean of all values of its sequence, masked ones too, as transformers has
  // computed it since 4.47. Reference only.
  bool averages_empty_rows = false;

  Dropout dropout;
  float* lse_HT = nullptr;  // base-2 log-sum-exp of A per head and query row, -inf without a key; for the backward pass
  AttentionScoreOutputs scores;

  void* scratch = nullptr;  // attention_scratch_bytes(params), 64-byte aligned, any contents
  Parallel parallel = serial();
};

// Enough for any queries, positions up to the longest sequence, terms, masks and outputs: it reads only the starts,
// sizes, precision, lut and parallel of the params. Linear in the longest sequence.
size_t attention_scratch_bytes(const KernelSet& kernels, const AttentionParams& params);

// The implementation that runs: the reference for scores, given buckets with a term, averaged empty rows, head sizes
// that are not whole vectors, and tables of rows without unit steps; else the best of `kernels`.
KernelLevel attention_level(const KernelSet& kernels, const AttentionParams& params);

// Allocates only when `kernels` checks. Throws kInternal for null pointers, a table shorter than the longest sequence
// or packed for another implementation, dropout outside [0, 1).
void attention(const KernelSet& kernels, const AttentionParams& params);

// Query rows of the pack: the length of `lse_HT`'s rows.
inline const int32_t* query_starts_of(const AttentionParams& p) {
  return p.query_starts != nullptr ? p.query_starts : p.starts;
}

}  // namespace deberta
