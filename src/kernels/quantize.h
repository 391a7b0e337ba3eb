// Rows of activations as the int8 GEMM reads them (dynamic, one scale for each row):
//   a' = x * reciprocal
//   s  = max |a'| / 127
//   u  = rint(a' * (127 / max |a'|)) + 128, so 1 .. 255 and 128 for zero
// A row whose largest is below 2^-120 counts as zeros: s = 1, every u = 128. A row with a value that is not finite gets
// the scale NaN, which makes every output of the GEMM NaN: it must not be hidden.
// Outlier columns leave the product of bytes: their reciprocal is 0, and x itself goes beside it, in bf16.
// The same bits on every instruction set: fp32 products, each rounded to nearest even.
// T rows  K columns  O outliers
#pragma once
#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/parallel.h"
#include "kernels/bf16.h"
#include "kernels/dispatch.h"

namespace deberta {

// What must be known about the columns, from a calibration.
struct Quantizer {
  const float* reciprocal_K = nullptr;  // 1 / smoothing vector, 0 at outliers; null: ones (then no outliers)
  const int32_t* outliers_O = nullptr;  // ascending columns
  size_t outliers = 0;                  // O
};

struct QuantizedRows {
  uint8_t* values_TK = nullptr;
  size_t stride = 0;  // elements between rows, at least K; columns beyond K are written: 128
  float* scales_T = nullptr;
  Bf16* side_TO = nullptr;  // x of the outliers
};

struct QuantizeParams {
  const float* x_TK = nullptr;  // exactly one x
  const Bf16* x_bf16_TK = nullptr;
  size_t x_stride = 0;  // elements between rows; 0: columns
  size_t rows = 0;
  size_t columns = 0;
  Quantizer quantizer;
  QuantizedRows out;
  Parallel parallel = serial();
};

// What max |a'| of a row means. factor 0: every u is 128.
struct RowScale {
  float scale = 1;
  float factor = 0;
};
inline RowScale row_scale(float largest) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (!(largest < kInfinity)) return {std::numeric_limits<float>::quiet_NaN(), 0};
  if (largest < 0x1p-120F) return {1, 0};
  return {largest / 127, 127 / largest};
}

// No allocation unless `kernels` checks. Throws kInternal for null pointers, rows that overlap, an outlier whose
// reciprocal is not 0.
void quantize(const KernelSet& kernels, const QuantizeParams& params);

// For operations that quantise what they have just written: the checks alone, and one row without counting. `kernel`
// null: the reference.
struct RowKernel;
void check_quantize(const QuantizeParams& params);
void quantize_row(const RowKernel* kernel, const QuantizeParams& params, size_t row);

}  // namespace deberta
