// Dropout of rows: where a row stands, and its bytes as factors.
#include "kernels/dropout_rows.h"

#include <algorithm>

#include "kernels/row_blocks.h"

namespace deberta {
namespace {

constexpr size_t kBytes = 16;  // per Philox call

struct RowCoordinates {
  uint32_t sequence = 0;  // index in this call
  uint32_t position = 0;
};

RowCoordinates coordinates_of(const RowDropout& d, size_t row) {
  RowCoordinates coordinates{.position = static_cast<uint32_t>(row)};
  if (d.starts != nullptr) {
    const int32_t* after = std::upper_bound(d.starts, d.starts + d.sequences + 1, static_cast<int32_t>(row));
    coordinates.sequence = static_cast<uint32_t>(after - d.starts - 1);
    coordinates.position = static_cast<uint32_t>(row) - static_cast<uint32_t>(after[-1]);
  }
  if (d.positions_T != nullptr) coordinates.position = static_cast<uint32_t>(d.positions_T[row]);
  return coordinates;
}

}  // namespace

void check_dropout(const RowDropout& d, size_t rows) {
  if (d.dropout.p == 0) return;
  require(Operation::kLayerNorm, d.dropout.p > 0 && d.dropout.p < 1 && d.dropout.threshold() < 256,
          "dropout outside [0, 1)");
  require(Operation::kLayerNorm, d.starts == nullptr || static_cast<size_t>(d.starts[d.sequences]) == rows,
          "dropout whose sequences do not cover the rows");
}

void dropout_row(const RowKernel* kernel, const RowDropout& d, size_t row, const float* x_D, float* y_D,
                 size_t columns) {
  const RowCoordinates coordinates = coordinates_of(d, row);
  Dropout dropout = d.dropout;
  if (d.starts == nullptr) dropout.sequence_offset = 0;
  const uint32_t threshold = dropout.threshold();
  const auto scale = static_cast<float>(dropout.scale());
  if (kernel != nullptr && columns <= kMostDropped) {
    const PhiloxCounter counter = dropout_counter(dropout, coordinates.sequence, 1, 0, coordinates.position, 0);
    const PhiloxKey key = dropout_key(dropout);
    return kernel->drop({.dropout = {.threshold = threshold,
                                     .scale = scale,
                                     .key = {key[0], key[1]},
                                     .last_words = {counter[2], counter[3]}},
                         .position = coordinates.position,
                         .x_D = x_D,
                         .y_D = y_D,
                         .columns = columns});
  }
  for (size_t c = 0; c < columns; c += kBytes) {
    const auto block = static_cast<uint32_t>(c / kBytes);
    const auto bytes = dropout_bytes(dropout, coordinates.sequence, 1, 0, coordinates.position, block);
    const size_t count = std::min(kBytes, columns - c);
    for (size_t b = 0; b < count; ++b) y_D[c + b] = x_D[c + b] * (bytes[b] < threshold ? 0.0f : scale);
  }
}

void dropout_rows(const KernelSet& kernels, const DropoutRowsParams& params) {
  if (params.rows == 0 || params.columns == 0) return;
  require(Operation::kLayerNorm, params.x_TD != nullptr && params.y_TD != nullptr, "a null pointer in dropout_rows");
  check_dropout(params.dropout, params.rows);
  const bool is_on = params.dropout.is_on();
  const RowKernel* kernel = kernel_of(kernels.level_of(Operation::kLayerNorm), &ImplementationRow::rows);
  for_each_row(params.parallel, params.rows, params.columns, [&](size_t row) {
    const float* x_D = params.x_TD + row * params.columns;
    float* y_D = params.y_TD + row * params.columns;
    if (is_on) return dropout_row(kernel, params.dropout, row, x_D, y_D, params.columns);
    if (x_D != y_D) std::copy_n(x_D, params.columns, y_D);
  });
}

}  // namespace deberta
