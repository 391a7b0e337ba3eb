// Layer norm of one row, sums in double.
#include "kernels/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/reference.h"

namespace deberta {

void reference_layer_norm(const LayerNormParams& p, size_t row) {
  const size_t x_offset = row * (p.x_stride > 0 ? p.x_stride : p.columns);
  float* y_D = p.y_TD + row * (p.y_stride > 0 ? p.y_stride : p.columns);
  if (p.mask_T != nullptr && p.mask_T[row] == 0) {
    std::fill_n(y_D, p.columns, 0.0f);
    return;
  }
  const auto z = [&](size_t d) {
    return double{p.x_TD[x_offset + d]} + (p.residual_TD != nullptr ? double{p.residual_TD[x_offset + d]} : 0.0);
  };
  const auto count = static_cast<double>(p.columns);
  double sum = 0;
  for (size_t d = 0; d < p.columns; ++d) sum += z(d);
  const double mean = sum / count;
  double squares = 0;
  for (size_t d = 0; d < p.columns; ++d) squares += (z(d) - mean) * (z(d) - mean);
  const double inverse = 1 / std::sqrt(squares / count + p.epsilon);
  for (size_t d = 0; d < p.columns; ++d) {  // y may be x: each element is read before it is written
    y_D[d] = static_cast<float>((z(d) - mean) * inverse * double{p.gamma_D[d]} + double{p.beta_D[d]});
  }
}

}  // namespace deberta
