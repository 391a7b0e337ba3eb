// Convolution of one row, straight from the equation, sums in double.
#include "kernels/convolution.h"

#include "kernels/reference/reference.h"

namespace deberta {
namespace {

bool is_masked(const ConvolutionParams& p, size_t row) {
  return p.mask_T != nullptr && p.mask_T[row] == 0;
}

}  // namespace

void reference_convolution(const ConvolutionParams& p, size_t row, size_t begin, size_t end) {
  const auto [columns, width, groups] = p.shape;
  const size_t side = (width - 1) / 2;
  const size_t part = columns / groups;
  for (size_t o = 0; o < columns; ++o) {
    double sum = double{p.bias_D[o]};
    for (size_t w = 0; w < width; ++w) {
      const size_t from = row + w;  // the row that is read, plus `side`
      if (from < begin + side || from >= end + side || is_masked(p, from - side)) continue;
      const float* x_C = p.x_TD + (from - side) * columns + o / part * part;
      const float* weight_CW = p.weight_DGW + o * part * width;
      for (size_t c = 0; c < part; ++c) sum += double{x_C[c]} * double{weight_CW[c * width + w]};
    }
    if (is_masked(p, row)) sum = 0;
    p.y_TD[row * columns + o] = static_cast<float>(activate(p.activation, sum));
  }
}

}  // namespace deberta
