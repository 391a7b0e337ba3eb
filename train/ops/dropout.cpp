// Factors made on the host by the counter, then one product.
#include "train/ops/dropout.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

#include <vector>

namespace deberta::train {
namespace {

// The factors of `columns` elements in a row of (sequence, head, position i).
void fill_row(const Dropout& d, uint32_t sequence, uint32_t heads, uint32_t head, uint32_t i, size_t columns,
              double* factors) {
  std::array<uint8_t, 16> bytes{};
  for (size_t c = 0; c < columns; ++c) {
    if (c % 16 == 0) bytes = dropout_bytes(d, sequence, heads, head, i, static_cast<uint32_t>(c / 16));
    factors[c] = bytes[c % 16] < d.threshold() ? 0.0 : d.scale();
  }
}

at::Tensor to_tensor(std::vector<double>& factors, at::IntArrayRef shape, const at::Tensor& like) {
  at::Tensor result = at::zeros(shape, like.options().dtype(at::kDouble).device(at::kCPU).requires_grad(false));
  std::copy(factors.begin(), factors.end(), result.data_ptr<double>());
  return result.to(like.options().requires_grad(false));
}

Rows rows_of_one_sequence(int64_t count) {
  return {.starts = {0, static_cast<int32_t>(count)}};
}

}  // namespace

at::Tensor dropout_factors(const Dropout& dropout, const Rows& rows, int64_t columns, const at::Tensor& like) {
  const auto width = static_cast<size_t>(columns);
  std::vector<double> factors(rows.count() * width);
  for (size_t b = 0; b < rows.sequences(); ++b) {
    for (size_t n = rows.begin(b); n < rows.end(b); ++n) {
      const auto i = static_cast<uint32_t>(rows.position(b, n));
      fill_row(dropout, static_cast<uint32_t>(b), 1, 0, i, width, factors.data() + n * width);
    }
  }
  return to_tensor(factors, {static_cast<int64_t>(rows.count()), columns}, like);
}

at::Tensor attention_dropout_factors(const Dropout& dropout, const Rows& queries, size_t sequence, int64_t heads,
                                     int64_t keys, const at::Tensor& like) {
  const size_t begin = queries.begin(sequence), count = queries.end(sequence) - begin;
  const auto width = static_cast<size_t>(keys);
  std::vector<double> factors(static_cast<size_t>(heads) * count * width);
  double* row = factors.data();
  for (uint32_t head = 0; head < static_cast<uint32_t>(heads); ++head) {
    for (size_t n = 0; n < count; ++n, row += width) {
      fill_row(dropout, static_cast<uint32_t>(sequence), static_cast<uint32_t>(heads), head,
               static_cast<uint32_t>(queries.position(sequence, begin + n)), width, row);
    }
  }
  return to_tensor(factors, {heads, static_cast<int64_t>(count), keys}, like);
}

at::Tensor dropout(const Compute&, const at::Tensor& x_ND, const Dropout& dropout, const Rows& rows) {
  if (dropout.threshold() == 0) return x_ND;
  return x_ND * dropout_factors(dropout, rows, x_ND.size(1), x_ND);
}

at::Tensor dropout(const Compute& compute, const at::Tensor& x_ND, const Dropout& dropout) {
  return train::dropout(compute, x_ND, dropout, rows_of_one_sequence(x_ND.size(0)));
}

}  // namespace deberta::train
