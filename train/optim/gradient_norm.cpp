// One sum for each lane of a vector within a block, then the lanes, then the blocks, always in this order.
#include "train/optim/gradient_norm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace deberta::train {
namespace {

// Most of a table of words gets no gradient in a step, and comparing bytes is several times as fast as the sum.
bool are_zeros(const float* values, size_t count) {
  return values[0] == 0 && std::memcmp(values, values + 1, (count - 1) * sizeof(float)) == 0;
}

double sum_of_squares(const float* values, size_t count) {
  if (are_zeros(values, count)) return 0;
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
