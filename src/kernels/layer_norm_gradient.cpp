// Gradients of layer norm: a task is a block of rows with its own sums; then the blocks are added, column by column.
#include "kernels/layer_norm_gradient.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/arena.h"
#include "kernels/profile.h"
#include "kernels/reference/reference.h"
#include "kernels/row_blocks.h"

namespace deberta {
namespace {

constexpr size_t kBlockRows = 64;  // the bits of dgamma and dbeta depend on it

size_t blocks_of(size_t rows) {
  return (rows + kBlockRows - 1) / kBlockRows;
}

void check_arguments(const LayerNormGradientParams& p) {
  require(Operation::kLayerNormGradient,
          p.dy_TD != nullptr && p.z_TD != nullptr && p.mean_T != nullptr && p.inverse_T != nullptr &&
              p.gamma_D != nullptr && p.dz_TD != nullptr && p.scratch != nullptr,
          "a null pointer");
  if (p.dx_TD != nullptr) check_dropout(p.dropout, p.rows);
}

// Adds the row to dgamma and dbeta of its block.
void gradient_row(const RowKernel* kernel, const LayerNormGradientParams& p, size_t row, float* dgamma_D,
                  float* dbeta_D) {
  const size_t offset = row * p.columns;
  if (p.mask_T != nullptr && p.mask_T[row] == 0) {
    std::fill_n(p.dz_TD + offset, p.columns, 0.0f);
  } else if (kernel == nullptr) {
    reference_layer_norm_gradient(p, row, dgamma_D, dbeta_D);
  } else {
    kernel->norm_gradient({.dy_D = p.dy_TD + offset,
                           .z_D = p.z_TD + offset,
                           .mean = p.mean_T[row],
                           .inverse = p.inverse_T[row],
                           .gamma_D = p.gamma_D,
                           .dz_D = p.dz_TD + offset,
                           .dgamma_D = dgamma_D,
                           .dbeta_D = dbeta_D,
                           .columns = p.columns});
  }
  if (p.dx_TD == nullptr) return;
  if (p.dropout.is_on()) return dropout_row(kernel, p.dropout, row, p.dz_TD + offset, p.dx_TD + offset, p.columns);
  std::copy_n(p.dz_TD + offset, p.columns, p.dx_TD + offset);
}

// sums_ND: one row of columns per block, `stride` apart.
void add_blocks(const float* sums, size_t blocks, size_t stride, size_t column, bool adds, float* out_D) {
  if (out_D == nullptr) return;
  double sum = adds ? double{out_D[column]} : 0;
  for (size_t block = 0; block < blocks; ++block) sum += double{sums[block * stride + column]};
  out_D[column] = static_cast<float>(sum);
}

void run(KernelLevel level, const LayerNormGradientParams& p) {
  const RowKernel* kernel = kernel_of(level, &ImplementationRow::rows);
  count_call(Operation::kLayerNormGradient, level);
  float* sums = static_cast<float*>(p.scratch);  // [blocks][2][D]: dgamma, dbeta
  const size_t blocks = blocks_of(p.rows), stride = 2 * p.columns;
  parallel_for(p.parallel, blocks, [&](size_t block, size_t) {
    float* dgamma_D = sums + block * stride;
    std::fill_n(dgamma_D, stride, 0.0f);
    const size_t end = std::min(p.rows, (block + 1) * kBlockRows);
    for (size_t row = block * kBlockRows; row < end; ++row) {
      gradient_row(kernel, p, row, dgamma_D, dgamma_D + p.columns);
    }
  });
  for_each_row(p.parallel, p.columns, blocks, [&](size_t column) {
    add_blocks(sums, blocks, stride, column, p.adds_weights, p.dgamma_D);
    add_blocks(sums + p.columns, blocks, stride, column, p.adds_weights, p.dbeta_D);
  });
}

// Compares dz. The reference goes first: dz may be dy.
void run_checked(const KernelSet& kernels, const LayerNormGradientParams& p) {
  std::vector<float> expected(p.rows * p.columns), sums(2 * p.columns);
  LayerNormGradientParams reference = p;
  reference.dz_TD = expected.data();
  reference.dx_TD = nullptr;
  for (size_t row = 0; row < p.rows; ++row) {
    gradient_row(nullptr, reference, row, sums.data(), sums.data() + p.columns);
  }
  run(kernels.level_of(Operation::kLayerNormGradient), p);
  const WorstElement worst = find_worst(expected, p.columns, p.dz_TD, p.columns);
  kernels.check->record(Operation::kLayerNormGradient, worst.difference,
                        fmt::format("[T {}, D {}] row {} column {}", p.rows, p.columns, worst.row, worst.column));
}

}  // namespace

size_t layer_norm_gradient_scratch_bytes(size_t rows, size_t columns) {
  return Arena::bytes_for<float>(blocks_of(rows) * 2 * columns);
}

void layer_norm_gradient(const KernelSet& kernels, const LayerNormGradientParams& params) {
  if (params.rows == 0) {
    if (!params.adds_weights && params.dgamma_D != nullptr) std::fill_n(params.dgamma_D, params.columns, 0.0f);
    if (!params.adds_weights && params.dbeta_D != nullptr) std::fill_n(params.dbeta_D, params.columns, 0.0f);
    return;
  }
  check_arguments(params);
  const ProfileTimer timer(
      {.operation = Operation::kLayerNormGradient, .precision = Precision::kFp32, .outputs = params.columns},
      {.rows = params.rows, .workers = params.parallel.workers});
  if (kernels.check != nullptr) {
    run_checked(kernels, params);
  } else {
    run(kernels.level_of(Operation::kLayerNormGradient), params);
  }
}

}  // namespace deberta
