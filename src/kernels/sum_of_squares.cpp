// At most 256 blocks, so that their sums fit on the stack. Plain loops, eight chains: as fast as memory.
#include "kernels/sum_of_squares.h"

#include <algorithm>
#include <array>

namespace deberta {
namespace {

constexpr size_t kMostBlocks = 256;
constexpr size_t kUnit = 4096;  // a block is a multiple of it
constexpr size_t kChains = 8;

using Chains = std::array<double, kChains>;

double tree(const Chains& c) {
  return ((c[0] + c[1]) + (c[2] + c[3])) + ((c[4] + c[5]) + (c[6] + c[7]));
}

double sum_block(const float* x, size_t count) {
  Chains chains{};
  size_t i = 0;
  for (; i + kChains <= count; i += kChains) {
    for (size_t c = 0; c < kChains; ++c) chains[c] += double{x[i + c]} * double{x[i + c]};
  }
  for (size_t c = 0; i < count; ++i, ++c) chains[c] += double{x[i]} * double{x[i]};
  return tree(chains);
}

}  // namespace

double sum_of_squares(const float* x, size_t count, const Parallel& parallel) {
  const size_t block = (count + kMostBlocks * kUnit - 1) / (kMostBlocks * kUnit) * kUnit;
  if (count == 0) return 0;
  const size_t blocks = (count + block - 1) / block;
  std::array<double, kMostBlocks> sums{};
  parallel_for(parallel, blocks,
               [&](size_t b, size_t) { sums[b] = sum_block(x + b * block, std::min(block, count - b * block)); });
  for (size_t step = 1; step < kMostBlocks; step *= 2) {
    for (size_t b = 0; b + step < kMostBlocks; b += 2 * step) sums[b] += sums[b + step];
  }
  return sums[0];
}

}  // namespace deberta
