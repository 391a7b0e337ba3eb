// Factors made on the host by the counter, then one product.
#include "train/ops/dropout.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros.h>

#include <vector>

#include "train/ops/kernel_call.h"

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

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct DropoutCall {
  const Compute* compute = nullptr;
  Dropout dropout;
  Rows rows;
};

// The gradient is dropped as the rows were.
class KernelDropout : public torch::autograd::Function<KernelDropout> {
 public:
  static at::Tensor forward(AutogradContext* context, const DropoutCall& call, const at::Tensor& x_ND) {
    hold(context, call);
    return run(call, x_ND.contiguous());
  }
  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    return {at::Tensor(), run(held<DropoutCall>(context), outputs[0].contiguous())};
  }

 private:
  static at::Tensor run(const DropoutCall& call, const at::Tensor& x_ND) {
    at::Tensor y_ND = new_floats(x_ND.sizes());
    dropout_rows(call.compute->kernels, {.dropout = to_kernel(call.dropout, call.rows),
                                         .x_TD = x_ND.const_data_ptr<float>(),
                                         .y_TD = y_ND.mutable_data_ptr<float>(),
                                         .rows = rows_of(x_ND),
                                         .columns = columns_of(x_ND),
                                         .parallel = call.compute->parallel});
    return y_ND;
  }
};

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

RowDropout to_kernel(const Dropout& dropout, const Rows& rows) {
  RowDropout result;
  result.dropout = dropout;
  if (rows.starts.empty()) return result;
  result.starts = rows.starts.data();
  result.sequences = rows.sequences();
  result.positions_T = rows.positions_N.empty() ? nullptr : rows.positions_N.data();
  return result;
}

at::Tensor dropout(const Compute& compute, const at::Tensor& x_ND, const Dropout& dropout, const Rows& rows) {
  if (dropout.threshold() == 0) return x_ND;
  if (runs_kernels(compute, x_ND)) return KernelDropout::apply(DropoutCall{&compute, dropout, rows}, x_ND);
  return x_ND * dropout_factors(dropout, rows, x_ND.size(1), x_ND);
}

at::Tensor dropout(const Compute& compute, const at::Tensor& x_ND, const Dropout& dropout) {
  if (dropout.threshold() == 0) return x_ND;
  if (runs_kernels(compute, x_ND)) return KernelDropout::apply(DropoutCall{&compute, dropout, {}}, x_ND);
  Dropout of_table = dropout;
  of_table.sequence_offset = 0;
  const Rows rows{{0, static_cast<int32_t>(x_ND.size(0))}};
  return x_ND * dropout_factors(of_table, rows, x_ND.size(1), x_ND);
}

}  // namespace deberta::train
