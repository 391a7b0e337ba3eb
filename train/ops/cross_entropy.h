// The loss of a tied output layer (model-heads.md#language-model-head):
//   logits = h . table^T + bias
//   loss   = sum over rows of log sum exp(logits) - logits[label]
// Rows are taken in chunks, and the gradients formed in the forward pass, so that no more than one chunk's logits ever
// exist.
// P rows  E columns  V vocabulary
#pragma once
#include <ATen/core/Tensor.h>

#include <vector>

#include "train/ops/compute.h"

namespace deberta::train {

struct TiedOutput {
  at::Tensor table_VE;  // the input table
  at::Tensor bias_V;
};

// A word drawn from the softmax of each row's logits (kernels/sample_ids.h), without gradient.
struct WordDraw {
  uint64_t key = 0;
  std::vector<uint64_t> samples_P;   // number of the sample that a row belongs to
  std::vector<int32_t> positions_P;  // position of the row within its sample
};

struct CrossEntropy {
  at::Tensor sum;                     // a double, with gradients for h, table and bias
  int64_t correct = 0;                // rows whose largest logit is the label's; of equal ones the first counts
  std::vector<int32_t> drawn_P = {};  // with a WordDraw: an id for each row, or -1 where logits are no numbers
};

inline constexpr int64_t kCrossEntropyRows = 1024;  // rows of a chunk

// labels_P: int32, each in [0, V).
CrossEntropy cross_entropy(const Compute& compute, const at::Tensor& h_PE, const TiedOutput& output,
                           const at::Tensor& labels_P, int64_t chunk_rows = kCrossEntropyRows,
                           const WordDraw* draw = nullptr);

}  // namespace deberta::train
