// Quantisation of one row, straight from the equation. In fp32, unlike the other references: the bytes are a promise.
#include "kernels/quantize.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/reference.h"

namespace deberta {

void reference_quantize(const QuantizeParams& p, size_t row) {
  const size_t first = row * (p.x_stride > 0 ? p.x_stride : p.columns);
  const auto a = [&](size_t k) {
    const float x = p.x_TK != nullptr ? p.x_TK[first + k] : from_bf16(p.x_bf16_TK[first + k]);
    return p.quantizer.reciprocal_K != nullptr ? x * p.quantizer.reciprocal_K[k] : x;
  };
  float largest = 0;
  for (size_t k = 0; k < p.columns; ++k) {
    if (!(std::abs(a(k)) <= largest)) largest = std::abs(a(k));
    if (std::isnan(largest)) break;
  }
  const RowScale scale = row_scale(largest);
  p.out.scales_T[row] = scale.scale;
  uint8_t* values_K = p.out.values_TK + row * p.out.stride;
  std::fill_n(values_K, p.out.stride, uint8_t{128});
  for (size_t k = 0; k < p.columns && scale.factor > 0; ++k) {
    values_K[k] = static_cast<uint8_t>(128 + std::lrint(a(k) * scale.factor));
  }
}

}  // namespace deberta
