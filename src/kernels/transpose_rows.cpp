// Transposition in tiles: strips of columns are the tasks, so that each sum belongs to one of them.
#include "kernels/transpose_rows.h"

#include <algorithm>

#include "kernels/gemm_layout.h"
#include "kernels/row_blocks.h"

namespace deberta {
namespace {

constexpr size_t kStrip = 64;  // columns of a task
constexpr size_t kTile = 64;   // rows that are transposed while they lie in the first-level cache

size_t stride_of_y(const TransposeRowsParams& p) {
  if (p.y_stride > 0) return p.y_stride;
  return p.y_bf16_NT != nullptr ? (p.rows + 1) / 2 * 2 : p.rows;
}

void check_arguments(const TransposeRowsParams& p) {
  const bool has_output = p.y_NT != nullptr || p.y_bf16_NT != nullptr || p.sums_N != nullptr || p.rounded_TN != nullptr;
  require(Operation::kGemm, p.x_TN != nullptr && has_output, "a null pointer in transpose_rows");
  require(Operation::kGemm, p.y_NT == nullptr || p.y_bf16_NT == nullptr, "two outputs of transpose_rows");
  require(Operation::kGemm, p.x_stride == 0 || p.x_stride >= p.columns, "rows of x overlap in transpose_rows");
  require(Operation::kGemm, p.rounded_TN == nullptr || p.rounded_stride >= (p.columns + 1) / 2 * 2,
          "rounded rows overlap in transpose_rows");
  const size_t least = p.y_bf16_NT != nullptr ? (p.rows + 1) / 2 * 2 : p.rows;
  require(Operation::kGemm, stride_of_y(p) >= least, "rows of y overlap in transpose_rows");
}

struct Transposition {
  const TransposeRowsParams& p;
  const GemmPackKernel& kernel;
  const RowKernel* rows;

  const float* at(size_t t, size_t n) const { return p.x_TN + t * (p.x_stride > 0 ? p.x_stride : p.columns) + n; }

  void turn(size_t t, size_t rows_here, size_t n, size_t columns) const {
    const size_t x_stride = p.x_stride > 0 ? p.x_stride : p.columns, y_stride = stride_of_y(p);
    if (p.y_NT != nullptr) {
      return kernel.transpose(at(t, n), x_stride, rows_here, columns, p.y_NT + n * y_stride + t, y_stride);
    }
    alignas(64) float tile[kStrip * kTile];
    kernel.transpose(at(t, n), x_stride, rows_here, columns, tile, kTile);
    for (size_t i = 0; i < columns; ++i) {
      narrow_row(rows, tile + i * kTile, p.y_bf16_NT + (n + i) * y_stride + t, rows_here);
    }
  }

  void round(size_t t, size_t n, size_t columns) const {
    Bf16* row_N = p.rounded_TN + t * p.rounded_stride;
    narrow_row(rows, at(t, n), row_N + n, columns);
    if (n + columns == p.columns && p.columns % 2 == 1) row_N[p.columns] = 0;
  }

  void strip(size_t n, size_t columns) const {
    float sums[kStrip] = {};
    if (p.adds_sums && p.sums_N != nullptr) std::copy_n(p.sums_N + n, columns, sums);
    for (size_t t = 0; t < p.rows; t += kTile) {
      const size_t rows_here = std::min(kTile, p.rows - t);
      if (p.sums_N != nullptr) {
        kernel.add_rows(at(t, n), p.x_stride > 0 ? p.x_stride : p.columns, rows_here, columns, sums);
      }
      for (size_t i = 0; p.rounded_TN != nullptr && i < rows_here; ++i) round(t + i, n, columns);
      if (p.y_NT != nullptr || p.y_bf16_NT != nullptr) turn(t, rows_here, n, columns);
    }
    if (p.sums_N != nullptr) std::copy_n(sums, columns, p.sums_N + n);
    if (p.y_bf16_NT == nullptr || p.rows % 2 == 0) return;
    for (size_t i = n; i < n + columns; ++i) p.y_bf16_NT[i * stride_of_y(p) + p.rows] = 0;
  }
};

}  // namespace

void transpose_rows(const KernelSet& kernels, const TransposeRowsParams& params) {
  if (params.columns == 0) return;
  check_arguments(params);
  const KernelLevel level = kernels.level_of(Operation::kGemm);
  const Transposition work{params, gemm_pack_kernel(level), kernel_of(level, &ImplementationRow::rows)};
  parallel_for(params.parallel, (params.columns + kStrip - 1) / kStrip, [&](size_t task, size_t) {
    work.strip(task * kStrip, std::min(kStrip, params.columns - task * kStrip));
  });
}

}  // namespace deberta
