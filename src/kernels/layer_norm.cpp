// Layer norm: argument checks, the choice of implementation, the additional outputs of a row.
#include "kernels/layer_norm.h"

#include <fmt/core.h>

#include <vector>

#include "kernels/profile.h"
#include "kernels/reference/reference.h"
#include "kernels/row_blocks.h"

namespace deberta {
namespace {

size_t stride_or(size_t stride, size_t columns) {
  return stride > 0 ? stride : columns;
}

QuantizeParams quantization_of(const LayerNormParams& p) {
  QuantizeParams q{};
  q.x_TK = p.y_TD;
  q.x_stride = p.y_stride;
  q.rows = p.rows;
  q.columns = p.columns;
  q.quantizer = p.quantizer;
  q.out = p.quantized;
  return q;
}

void check_arguments(const LayerNormParams& p) {
  require(Operation::kLayerNorm, p.x_TD != nullptr && p.y_TD != nullptr && p.gamma_D != nullptr && p.beta_D != nullptr,
          "a null pointer");
  require(Operation::kLayerNorm, (p.mean_T != nullptr) == (p.inverse_T != nullptr), "a mean without its inverse");
  require(Operation::kLayerNorm, !p.dropout.is_on() || p.z_TD != nullptr, "dropout without a place for z");
  check_dropout(p.dropout, p.rows);
  if (p.quantized.values_TK != nullptr) check_quantize(quantization_of(p));
}

void norm_plain_row(const RowKernel* kernel, const LayerNormParams& p, size_t row) {
  const size_t x_offset = row * stride_or(p.x_stride, p.columns);
  const bool is_masked = p.mask_T != nullptr && p.mask_T[row] == 0;
  if (kernel == nullptr || is_masked) return reference_layer_norm(p, row);
  float statistics[2];
  kernel->norm({.x_D = p.x_TD + x_offset,
                .residual_D = p.residual_TD != nullptr ? p.residual_TD + x_offset : nullptr,
                .gamma_D = p.gamma_D,
                .beta_D = p.beta_D,
                .y_D = p.y_TD + row * stride_or(p.y_stride, p.columns),
                .columns = p.columns,
                .epsilon = p.epsilon,
                .z_D = p.z_TD != nullptr ? p.z_TD + x_offset : nullptr,
                .statistics = p.mean_T != nullptr ? statistics : nullptr});
  if (p.mean_T == nullptr) return;
  p.mean_T[row] = statistics[0];
  p.inverse_T[row] = statistics[1];
}

// The dropped x lies where z will.
void norm_row(const RowKernel* kernel, const LayerNormParams& p, size_t row) {
  const bool is_masked = p.mask_T != nullptr && p.mask_T[row] == 0;
  if (!p.dropout.is_on() || is_masked) return norm_plain_row(kernel, p, row);
  const size_t x_offset = row * stride_or(p.x_stride, p.columns);
  dropout_row(kernel, p.dropout, row, p.x_TD + x_offset, p.z_TD + x_offset, p.columns);
  LayerNormParams dropped = p;
  dropped.x_TD = p.z_TD;
  norm_plain_row(kernel, dropped, row);
}

void run(KernelLevel level, const LayerNormParams& p) {
  const RowKernel* kernel = kernel_of(level, &ImplementationRow::rows);
  const QuantizeParams quantization = quantization_of(p);
  const bool wants_bytes = p.quantized.values_TK != nullptr;
  count_call(Operation::kLayerNorm, level);
  if (wants_bytes) count_call(Operation::kQuantize, level);
  for_each_row(p.parallel, p.rows, p.columns, [&](size_t row) {
    norm_row(kernel, p, row);
    if (p.y_bf16_TD != nullptr) {
      narrow_row(kernel, p.y_TD + row * stride_or(p.y_stride, p.columns),
                 p.y_bf16_TD + row * stride_or(p.bf16_stride, p.columns), p.columns);
    }
    if (wants_bytes) quantize_row(kernel, quantization, row);
  });
}

// The reference goes first: y may be x or the residual, z may be x. The bytes are those of y, and quantize() compares
// them.
void run_checked(const KernelSet& kernels, const LayerNormParams& p) {
  std::vector<float> expected(p.rows * p.columns), z_TD;
  LayerNormParams reference = p;
  reference.y_TD = expected.data();
  reference.y_stride = p.columns;
  if (p.z_TD != nullptr) z_TD.resize(p.rows * stride_or(p.x_stride, p.columns));
  if (p.z_TD != nullptr) reference.z_TD = z_TD.data();
  for (size_t row = 0; row < p.rows; ++row) norm_row(nullptr, reference, row);
  run(kernels.level_of(Operation::kLayerNorm), p);
  const WorstElement worst = find_worst(expected, p.columns, p.y_TD, stride_or(p.y_stride, p.columns));
  kernels.check->record(Operation::kLayerNorm, worst.difference,
                        fmt::format("[T {}, D {}] row {} column {}", p.rows, p.columns, worst.row, worst.column));
  if (p.quantized.values_TK != nullptr) quantize(kernels, quantization_of(p));
}

}  // namespace

void layer_norm(const KernelSet& kernels, const LayerNormParams& params) {
  if (params.rows == 0) return;
  const OperationScope scope(
      kernels,
      {params.x_TD, params.residual_TD, params.mask_T, params.gamma_D, params.beta_D, params.y_TD, params.y_bf16_TD,
       params.quantizer.reciprocal_K, params.quantizer.outliers_O, params.quantized.values_TK,
       params.quantized.scales_T, params.quantized.side_TO, params.z_TD, params.mean_T, params.inverse_T});
  check_arguments(params);
  const ProfileTimer timer(
      {.operation = Operation::kLayerNorm, .precision = Precision::kFp32, .outputs = params.columns},
      {.rows = params.rows, .workers = params.parallel.workers});
  if (kernels.check != nullptr) {
    run_checked(kernels, params);
  } else {
    run(kernels.level_of(Operation::kLayerNorm), params);
  }
}

}  // namespace deberta
