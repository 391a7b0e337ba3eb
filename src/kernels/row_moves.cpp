// Plain loops: the compiler's vectors move them as fast as memory gives them.
#include "kernels/row_moves.h"

#include <algorithm>

#include "kernels/row_blocks.h"

namespace deberta {
namespace {

size_t row_of(const RowMoveParams& p, size_t n) {
  return p.rows_N != nullptr ? static_cast<size_t>(p.rows_N[n]) : n;
}

}  // namespace

void gather_rows(const KernelSet& kernels, const RowMoveParams& p) {
  const OperationScope scope(kernels, {p.x, p.rows_N, p.y});
  for_each_row(p.parallel, p.rows, p.columns,
               [&](size_t n) { std::copy_n(p.x + row_of(p, n) * p.columns, p.columns, p.y + n * p.columns); });
}

void scatter_rows(const KernelSet& kernels, const RowMoveParams& p) {
  const OperationScope scope(kernels, {p.x, p.rows_N, p.y});
  for_each_row(p.parallel, p.rows, p.columns,
               [&](size_t n) { std::copy_n(p.x + n * p.columns, p.columns, p.y + row_of(p, n) * p.columns); });
}

void add_rows(const KernelSet& kernels, const RowMoveParams& p) {
  const OperationScope scope(kernels, {p.x, p.rows_N, p.y});
  for_each_row(p.parallel, p.rows, p.columns, [&](size_t n) {
    const float* x_D = p.x + row_of(p, n) * p.columns;
    float* y_D = p.y + n * p.columns;
    for (size_t d = 0; d < p.columns; ++d) y_D[d] += x_D[d];
  });
}

}  // namespace deberta
