// One row for each sequence, from the hidden states h_t of its tokens, and one for each group of rows. A token counts
// unless a mask hides it, [CLS] and [SEP] too; in a pair both texts count.
//   first      h_0, whatever the mask
//   mean       sum of h_t / n
//   max        of each column the largest h_t
//   attention  sum of a_t h_t;  a = softmax over t of h_t . w
//   group      sum of a_i h_i over its rows;  a = softmax over i of h_i . q / sqrt(D), q another row
// Sums are in double and in the order of the tokens: a row depends on its own sequence or group alone.
// B sequences  T packed tokens  D columns  N groups
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/parallel.h"
#include "kernels/dispatch.h"

namespace deberta {

enum class RowPooling { kFirst, kMean, kMax, kAttention };

struct PoolingInput {
  RowPooling pooling = RowPooling::kFirst;
  const float* hidden_TD = nullptr;
  size_t columns = 0;               // D
  std::span<const int32_t> starts;  // cu_seqlens [B + 1]
  const uint8_t* mask_T = nullptr;  // null: all tokens count
  const float* query_D = nullptr;   // w; attention

  size_t sequences() const { return starts.empty() ? 0 : starts.size() - 1; }
  size_t begin(size_t b) const { return static_cast<size_t>(starts[b]); }
  size_t end(size_t b) const { return static_cast<size_t>(starts[b + 1]); }
  bool counts(size_t t) const { return pooling == RowPooling::kFirst || mask_T == nullptr || mask_T[t] != 0; }
  const float* row(size_t t) const { return hidden_TD + t * columns; }
};

// Whether any token of sequence b counts; with a mask the host reads it.
bool has_rows_to_pool(const PoolingInput& input, size_t b);

struct PoolingOutput {
  float* pooled_BD = nullptr;     // zeros of a sequence without tokens that count
  double* weights_T = nullptr;    // attention: a; of tokens that do not count it is left as it is
  int32_t* largest_BD = nullptr;  // max: the first token that has the value, -1 without one; null: not wanted
};
void pool_rows(const KernelSet& kernels, const PoolingInput& input, const PoolingOutput& output,
               const Parallel& parallel);

struct GroupPoolingParams {
  const float* hidden_TD = nullptr;
  size_t columns = 0;                     // D
  const int32_t* group_starts = nullptr;  // [N + 1], where the rows of each group begin in `rows`
  const int32_t* rows = nullptr;          // rows of hidden_TD
  const int32_t* query_rows_N = nullptr;  // q of each group
  size_t groups = 0;                      // N
  double* weights = nullptr;              // a, room for one number of each of the rows
  float* pooled_ND = nullptr;             // a group without rows: zeros
  Parallel parallel = serial();
};
void pool_groups(const KernelSet& kernels, const GroupPoolingParams& params);

}  // namespace deberta
