// Disentangled attention, backward (model.md#gradient-of-attention). W are the probabilities of attention.h, keep the
// mask of dropout, c its scale; o is the element-wise product:
//   rho_i  = dO_i . O_i
//   G      = scale * W o (c keep o (dO V^T) - rho)
//   dV     = (c keep o W)^T dO
//   dQ_i   = sum_j G[i,j] (k_j + [c2p] Kr[row(i-j)])
//   dK_j   = sum_i G[i,j] (q_i + [p2c] Qr[row(i-j)])
//   dKr[r] = sum over all i, j with row(i-j) = r of G[i,j] q_i
//   dQr[r] = sum over all i, j with row(i-j) = r of G[i,j] k_j
// fp32 in and out, or q, k and v in bf16; sums in fp32, never an L x L buffer. The gradients of a sequence depend on it
// alone; those of the tables are summed over the pack, first in each of kGradientChunks runs of sequences, in order,
// then over the runs in order; `starts` alone decides the runs. So threads never change a bit. Letters as in
// attention.h; D = H K
#pragma once
#include "kernels/attention.h"
#include "kernels/bf16.h"

namespace deberta {

// Runs of whole sequences, about as long as each other; with the heads they are the tasks of a call.
inline constexpr size_t kGradientChunks = 4;

// Number is float; double is for tests, which compare the reference with finite differences.
template <class Number>
struct AttentionBackwardOf {
  // As in the forward call.
  HeadRows<const Number> q, k, v;
  size_t sequences = 0;  // B
  size_t heads = 0;      // H
  size_t head_size = 0;  // K
  const int32_t* starts = nullptr;
  const int32_t* query_starts = nullptr;
  const int32_t* query_positions = nullptr;
  double scale = 1;
  HeadRows<const Number> kr, qr;  // rows of the tables: with [R, D] from a linear layer, D and K; null: no term
  size_t relative_rows = 0;       // R
  const RelLut* lut = nullptr;
  const uint8_t* key_mask_T = nullptr;
  const uint8_t* query_mask_T = nullptr;
  bool is_causal = false;
  Dropout dropout;

  // What the forward call wrote. The reference computes them anew and reads neither.
  HeadRows<const Number> out;
  const float* lse_HT = nullptr;

  HeadRows<const Number> dout;  // a row per query, as in out and dq
  HeadRows<Number> dq, dk, dv;  // zeros without an allowed key, or query
  HeadRows<Number> dkr, dqr;    // R rows of each term that there is

  void* scratch = nullptr;  // attention_backward_scratch_bytes(params), 64-byte aligned, any contents
  Parallel parallel = serial();
};

// In bf16, q, k and v are those that the forward call in bf16 read, passed in bf16 instead of fp32; `out` is
// what it wrote, widened. kr and qr are rounded to bf16 where that call's packed tables are.
struct AttentionBackwardParams : AttentionBackwardOf<float> {
  Precision precision = Precision::kFp32;
  HeadRows<const Bf16> q_bf16, k_bf16, v_bf16;
};

// Reads the starts, positions, sizes, precision, terms, lut and parallel. Linear in the longest sequence.
size_t attention_backward_scratch_bytes(const KernelSet& kernels, const AttentionBackwardParams& params);

// The implementation that runs: the reference for head sizes that are not whole vectors and tables of rows without unit
// steps; else the best of `kernels`, which may be another than that of the forward call.
KernelLevel attention_backward_level(const KernelSet& kernels, const AttentionBackwardParams& params);

// Allocates only when `kernels` checks. Throws kInternal for null pointers, a table shorter than the longest sequence,
// dropout outside [0, 1).
void attention_backward(const KernelSet& kernels, const AttentionBackwardParams& params);

}  // namespace deberta
