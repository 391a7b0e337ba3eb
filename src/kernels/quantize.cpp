// Quantisation: argument checks, the choice of implementation, scales and the columns that stay in bf16.
#include "kernels/quantize.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include "kernels/profile.h"
#include "kernels/reference/reference.h"
#include "kernels/row_blocks.h"

namespace deberta {
namespace {

constexpr uint8_t kZero = 128;

size_t x_stride_of(const QuantizeParams& p) {
  return p.x_stride > 0 ? p.x_stride : p.columns;
}

void run(KernelLevel level, const QuantizeParams& p) {
  count_call(Operation::kQuantize, level);
  const RowKernel* kernel = kernel_of(level, &ImplementationRow::rows);
  for_each_row(p.parallel, p.rows, p.columns, [&](size_t row) { quantize_row(kernel, p, row); });
}

// The largest difference between two rows in steps of a byte; scales that differ count as a whole row wrong.
double difference_of(const QuantizedRows& a, const QuantizedRows& b, size_t row) {
  const uint8_t* first_K = a.values_TK + row * a.stride;
  const uint8_t* second_K = b.values_TK + row * b.stride;
  double worst = 0;
  for (size_t k = 0; k < a.stride; ++k) worst = std::max(worst, std::abs(double(first_K[k]) - double(second_K[k])));
  const bool has_same_scale = std::bit_cast<uint32_t>(a.scales_T[row]) == std::bit_cast<uint32_t>(b.scales_T[row]);
  return has_same_scale ? worst : 255;
}

void run_checked(KernelLevel level, const QuantizeParams& p, KernelCheck& check) {
  run(level, p);
  std::vector<uint8_t> values(p.rows * p.out.stride);
  std::vector<float> scales(p.rows);
  std::vector<Bf16> side(p.rows * p.quantizer.outliers);
  QuantizeParams expected = p;
  expected.out = {
      .values_TK = values.data(), .stride = p.out.stride, .scales_T = scales.data(), .side_TO = side.data()};
  const WorstElement worst = find_worst(p.rows, 1, [&](size_t row, size_t) {
    quantize_row(nullptr, expected, row);
    return difference_of(p.out, expected.out, row);
  });
  check.record(Operation::kQuantize, worst.difference,
               fmt::format("[T {}, K {}] row {}", p.rows, p.columns, worst.row));
}

}  // namespace

void check_quantize(const QuantizeParams& p) {
  const Quantizer& q = p.quantizer;
  require(Operation::kQuantize, (p.x_TK != nullptr) != (p.x_bf16_TK != nullptr), "expected one x");
  require(Operation::kQuantize, p.out.values_TK != nullptr && p.out.scales_T != nullptr, "a null pointer");
  require(Operation::kQuantize, p.out.stride >= p.columns && x_stride_of(p) >= p.columns, "rows overlap");
  if (q.outliers == 0) return;
  require(Operation::kQuantize, q.outliers_O != nullptr && q.reciprocal_K != nullptr && p.out.side_TO != nullptr,
          "a null pointer");
  for (size_t o = 0; o < q.outliers; ++o) {
    const auto column = static_cast<size_t>(q.outliers_O[o]);
    require(Operation::kQuantize, column < p.columns && q.reciprocal_K[column] == 0,
            "an outlier whose reciprocal is not 0");
  }
}

void quantize_row(const RowKernel* kernel, const QuantizeParams& p, size_t row) {
  const size_t first = row * x_stride_of(p);
  const Quantizer& q = p.quantizer;
  for (size_t o = 0; o < q.outliers; ++o) {
    const size_t at = first + static_cast<size_t>(q.outliers_O[o]);
    p.out.side_TO[row * q.outliers + o] = p.x_TK != nullptr ? to_bf16(p.x_TK[at]) : p.x_bf16_TK[at];
  }
  if (kernel == nullptr) return reference_quantize(p, row);
  const ScaledRow scaled{.x_K = p.x_TK != nullptr ? p.x_TK + first : nullptr,
                         .x_bf16_K = p.x_bf16_TK != nullptr ? p.x_bf16_TK + first : nullptr,
                         .reciprocal_K = q.reciprocal_K,
                         .columns = p.columns};
  const RowScale scale = row_scale(std::bit_cast<float>(kernel->largest(scaled)));
  uint8_t* values_K = p.out.values_TK + row * p.out.stride;
  p.out.scales_T[row] = scale.scale;
  if (scale.factor == 0) {
    std::fill_n(values_K, p.out.stride, kZero);
    return;
  }
  kernel->to_bytes(scaled, scale.factor, values_K);
  std::fill(values_K + p.columns, values_K + p.out.stride, kZero);
}

void quantize(const KernelSet& kernels, const QuantizeParams& params) {
  if (params.rows == 0) return;
  const OperationScope scope(kernels,
                             {params.x_TK, params.x_bf16_TK, params.quantizer.reciprocal_K, params.quantizer.outliers_O,
                              params.out.values_TK, params.out.scales_T, params.out.side_TO});
  check_quantize(params);
  const ProfileTimer timer(
      {.operation = Operation::kQuantize, .precision = Precision::kInt8, .outputs = params.columns},
      {.rows = params.rows, .workers = params.parallel.workers});
  const KernelLevel level = kernels.level_of(Operation::kQuantize);
  if (kernels.check != nullptr) {
    run_checked(level, params, *kernels.check);
  } else {
    run(level, params);
  }
}

}  // namespace deberta
