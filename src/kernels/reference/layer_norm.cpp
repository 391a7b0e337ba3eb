// Layer norm of one row and its gradient, sums in double.
#include "kernels/layer_norm.h"

#include <algorithm>
#include <cmath>

#include "kernels/layer_norm_gradient.h"
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
  for (size_t d = 0; d < p.columns; ++d) {  // y and z may be x: each element is read before it is written
    const double z_d = z(d);
    if (p.z_TD != nullptr) p.z_TD[x_offset + d] = static_cast<float>(z_d);
    y_D[d] = static_cast<float>((z_d - mean) * inverse * double{p.gamma_D[d]} + double{p.beta_D[d]});
  }
  if (p.mean_T == nullptr) return;
  p.mean_T[row] = static_cast<float>(mean);
  p.inverse_T[row] = static_cast<float>(inverse);
}

void reference_layer_norm_gradient(const LayerNormGradientParams& p, size_t row, float* dgamma_D, float* dbeta_D) {
  const float* z_D = p.z_TD + row * p.columns;
  const float* dy_D = p.dy_TD + row * p.columns;
  float* dz_D = p.dz_TD + row * p.columns;
  const double mean{p.mean_T[row]}, inverse{p.inverse_T[row]};
  const auto n = [&](size_t d) { return (double{z_D[d]} - mean) * inverse; };
  const auto g = [&](size_t d) { return double{dy_D[d]} * double{p.gamma_D[d]}; };
  double sum_g = 0, sum_gn = 0;
  for (size_t d = 0; d < p.columns; ++d) {
    sum_g += g(d);
    sum_gn += g(d) * n(d);
  }
  const auto count = static_cast<double>(p.columns);
  for (size_t d = 0; d < p.columns; ++d) {  // dz may be dy
    const double dy{dy_D[d]};
    dgamma_D[d] = static_cast<float>(double{dgamma_D[d]} + dy * n(d));
    dbeta_D[d] = static_cast<float>(double{dbeta_D[d]} + dy);
    dz_D[d] = static_cast<float>(inverse * (g(d) - sum_g / count - n(d) * sum_gn / count));
  }
}

}  // namespace deberta
