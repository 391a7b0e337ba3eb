// Attention composed of ATen's operators, with their gradients, for any type and device. All scores are in memory.
#pragma once
#include "train/ops/attention.h"

namespace deberta::train {

at::Tensor composed_attention(const AttentionInputs& inputs);

}  // namespace deberta::train
