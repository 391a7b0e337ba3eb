// Two passes in double.
#include "cli/statistics.h"

#include <algorithm>
#include <cmath>

namespace deberta::cli {

Statistics statistics_of(const TensorView& tensor) {
  if (tensor.dtype == DType::kBool) return {};
  const std::vector<float> values = to_fp32(tensor);
  Statistics s;
  uint64_t finite = 0;
  double sum = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) {
      ++s.not_finite;
      continue;
    }
    s.min = finite == 0 ? value : std::min<double>(s.min, value);
    s.max = finite == 0 ? value : std::max<double>(s.max, value);
    sum += value;
    ++finite;
  }
  if (finite == 0) return s;
  s.mean = sum / static_cast<double>(finite);
  double squares = 0;
  for (const float value : values) {
    if (std::isfinite(value)) squares += (value - s.mean) * (value - s.mean);
  }
  s.deviation = std::sqrt(squares / static_cast<double>(finite));
  return s;
}

}  // namespace deberta::cli
