// What int8 GEMM must know of its input columns, from a calibration (kernels.md 10).
#pragma once
#include <cstddef>
#include <cstdint>

namespace deberta {

struct Quantizer {
  const float* reciprocal_K = nullptr;  // a' = a * reciprocal[k]; null: none
  const int32_t* outliers_O = nullptr;  // ascending; these columns stay in bf16
  size_t outliers = 0;                  // O
};

}  // namespace deberta
