// Tensors of a checkpoint that figures read beside the model's own passes: their shapes checked, in fp32.
// N outputs  K inputs  D hidden  R rows of the relative table
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "deberta/analysis.h"

namespace deberta {

// Throws kTensors for a tensor that is missing or has another shape.
std::vector<float> tensor_values(const Checkpoint& checkpoint, const std::string& name, const Shape& shape);

// P [R, D], through its norm if asked for and if the model has one.
VectorRows relative_table(const Checkpoint& checkpoint, const ModelConfig& config, bool is_normed);

struct LinearWeights {
  std::vector<float> weight_NK;
  std::vector<float> bias_N;
};

// What a layer (from 1) makes of hidden states to get queries, and of the relative table to get Kr or Qr; in both
// layouts, the rows of a head one after another. Throw kTensors.
LinearWeights query_projection(const Checkpoint& checkpoint, const ModelConfig& config, int32_t layer);
enum class PositionSide { kKeys, kQueries };
LinearWeights position_projection(const Checkpoint& checkpoint, const ModelConfig& config, int32_t layer,
                                  PositionSide side);

// x w^T + b, [rows, N]. An empty bias: none.
VectorRows project(const VectorRows& x_MK, const LinearWeights& weights);

}  // namespace deberta
