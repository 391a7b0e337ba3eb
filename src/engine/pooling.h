// What the pooler of a sequence head reads (ModelConfig::classifier_pooling): one row for each sequence, of the last
// hidden states h_t of its tokens. Those count that no mask hides, [CLS] and [SEP] among them; of pairs both texts do.
//   first      h_0, whatever the mask
//   mean       sum of h_t / n
//   max        of each column the largest h_t
//   attention  sum of a_t h_t;  a = softmax over t of h_t . w
// Sums are in double and in the order of the tokens: a row depends on its own sequence alone. The trainer calls this
// too.
// B sequences  T packed tokens  D columns
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/parallel.h"
#include "deberta/config.h"

namespace deberta {

struct PoolingInput {
  ClassifierPooling pooling = ClassifierPooling::kFirst;
  const float* hidden_TD = nullptr;
  size_t columns = 0;               // D
  std::span<const int32_t> starts;  // cu_seqlens [B + 1]
  const uint8_t* mask_T = nullptr;  // null: all tokens count
  const float* query_D = nullptr;   // w; attention

  size_t sequences() const { return starts.empty() ? 0 : starts.size() - 1; }
  size_t begin(size_t b) const { return static_cast<size_t>(starts[b]); }
  size_t end(size_t b) const { return static_cast<size_t>(starts[b + 1]); }
  bool counts(size_t t) const { return pooling == ClassifierPooling::kFirst || mask_T == nullptr || mask_T[t] != 0; }
  const float* row(size_t t) const { return hidden_TD + t * columns; }
};

// Whether any token of sequence b counts.
bool has_rows_to_pool(const PoolingInput& input, size_t b);

struct PoolingOutput {
  float* pooled_BD = nullptr;     // zeros of a sequence without tokens that count
  double* weights_T = nullptr;    // attention: a; of tokens that do not count it is left as it is
  int32_t* largest_BD = nullptr;  // max: the first token that has the value, -1 without one; null: not wanted
};
void pool_rows(const PoolingInput& input, const PoolingOutput& output, const Parallel& parallel);

}  // namespace deberta
