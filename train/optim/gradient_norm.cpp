// One sum for each lane of a vector within a block, then the lanes, then the blocks, always in this order.
#include "train/optim/gradient_norm.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace deberta::train {
namespace {

double sum_of_squares(const float* values, size_t count) {
  std::array<double, kSlotElements> lanes{};
  for (size_t i = 0; i < count; i += kSlotElements) {
    for (size_t j = 0; j < kSlotElements; ++j) {
      const auto value = static_cast<double>(values[i + j]);
      lanes[j] += value * value;
    }
  }
  double sum = 0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

std::vector<double> squares_by_block(const ParameterLayout& layout, const FlatBuffer& gradients,
                                     const Parallel& parallel) {
  const std::vector<FlatBlock> blocks = make_blocks(layout);
  std::vector<double> squares(blocks.size());
  parallel_for(parallel, blocks.size(), [&](size_t task, size_t) {
    squares[task] = sum_of_squares(gradients.data() + blocks[task].begin, blocks[task].count);
  });
  return squares;
}

double norm_of(std::span<const double> squares) {
  double sum = 0;
  for (const double block : squares) sum += block;
  return std::sqrt(sum);
}

double global_norm(const ParameterLayout& layout, const FlatBuffer& gradients, const Parallel& parallel) {
  return norm_of(squares_by_block(layout, gradients, parallel));
}

double clip_divisor(double norm, double max_norm, double loss_scale) {
  return max_norm > 0 ? loss_scale * std::max(1.0, norm / (loss_scale * max_norm)) : loss_scale;
}

}  // namespace deberta::train
