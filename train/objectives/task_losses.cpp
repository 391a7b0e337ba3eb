// Plain ATen compositions, summed in double; a loss also counts its labels and its correct answers.
#include "train/objectives/task_losses.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/softplus.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <numeric>

#include "train/objectives/groups.h"

namespace deberta::train {
namespace {

at::Tensor to_tensor(std::span<const float> values, at::IntArrayRef shape, const at::Tensor& like) {
  at::Tensor tensor = at::empty(shape, at::kFloat);
  std::copy(values.begin(), values.end(), tensor.data_ptr<float>());
  return tensor.to(like.options().requires_grad(false));
}

// log p, of each class times its weight.
at::Tensor weighted(const at::Tensor& log_p_NC, std::span<const float> weights_C) {
  return weights_C.empty() ? log_p_NC : log_p_NC * to_tensor(weights_C, {log_p_NC.size(1)}, log_p_NC);
}

// Rows, each times its weight.
at::Tensor weigh_rows(const at::Tensor& rows_NC, std::span<const float> weights_N) {
  if (weights_N.empty()) return rows_NC;
  return rows_NC * to_tensor(weights_N, {rows_NC.size(0), 1}, rows_NC);
}

// What `labels` of each row weigh together; none where all rows weigh the same.
std::optional<double> weight_of(std::span<const float> weights_N, int64_t labels) {
  if (weights_N.empty()) return std::nullopt;
  return std::accumulate(weights_N.begin(), weights_N.end(), 0.0) * static_cast<double>(labels);
}

// (1 - s) label + s even.
at::Tensor smooth(const at::Tensor& at_label, const at::Tensor& even, double smoothing) {
  return smoothing > 0 ? (1 - smoothing) * at_label + smoothing * even : at_label;
}

// One column of one group of an array [N, D]: rows begin to end - 1.
struct Column {
  size_t columns = 1, number = 0;
  int32_t begin = 0, end = 0;

  size_t size() const { return static_cast<size_t>(end - begin); }
  size_t index(size_t row) const { return (static_cast<size_t>(begin) + row) * columns + number; }
};

void set_target(double* targets_ND, const Column& column, int32_t label, double smoothing) {
  const double even = smoothing / static_cast<double>(column.size());
  for (size_t n = 0; n < column.size(); ++n) targets_ND[column.index(n)] = even;
  targets_ND[column.index(static_cast<size_t>(label))] += 1 - smoothing;
}

// The first of the largest rows, from 0.
int32_t largest_of(const double* values_ND, const Column& column) {
  size_t largest = 0;
  for (size_t n = 0; n < column.size(); ++n) {
    if (values_ND[column.index(n)] > values_ND[column.index(largest)]) largest = n;
  }
  return static_cast<int32_t>(largest);
}

}  // namespace

Loss class_loss(const at::Tensor& logits_NC, std::span<const int32_t> labels_N, const ClassOptions& options) {
  at::Tensor labels_N1 = at::empty({static_cast<int64_t>(labels_N.size()), 1}, at::kLong);
  std::copy(labels_N.begin(), labels_N.end(), labels_N1.data_ptr<int64_t>());
  labels_N1 = labels_N1.to(logits_NC.device());
  const at::Tensor counts_N1 = labels_N1.ge(0);
  const at::Tensor log_p_NC = weighted(logits_NC.log_softmax(1), options.weights_C);
  const at::Tensor right_N1 = logits_NC.argmax(1, true).eq(labels_N1);
  const at::Tensor row_N1 =
      weigh_rows(smooth(log_p_NC.gather(1, labels_N1.clamp_min(0)), log_p_NC.mean(1, true), options.label_smoothing),
                 options.weights_N);
  Loss loss{-row_N1.masked_fill(counts_N1.logical_not(), 0).sum(at::kDouble), counts_N1.sum().item<int64_t>(),
            right_N1.sum().item<int64_t>()};
  if (options.weights_C.empty() && options.weights_N.empty()) return loss;
  loss.weight = 0;
  for (size_t n = 0; n < labels_N.size(); ++n) {
    if (labels_N[n] < 0) continue;
    const double of_row = options.weights_N.empty() ? 1 : double{options.weights_N[n]};
    const double of_class = options.weights_C.empty() ? 1 : double{options.weights_C[static_cast<size_t>(labels_N[n])]};
    *loss.weight += of_row * of_class;
  }
  return loss;
}

Loss soft_class_loss(const at::Tensor& logits_NC, std::span<const float> labels_NC, const ClassOptions& options) {
  const at::Tensor labels = to_tensor(labels_NC, logits_NC.sizes(), logits_NC);
  const at::Tensor log_p_NC = weighted(logits_NC.log_softmax(1), options.weights_C);
  const at::Tensor row_N1 = weigh_rows(
      smooth((log_p_NC * labels).sum(1, true), log_p_NC.mean(1, true), options.label_smoothing), options.weights_N);
  return {-row_N1.sum(at::kDouble), logits_NC.size(0), logits_NC.argmax(1).eq(labels.argmax(1)).sum().item<int64_t>(),
          weight_of(options.weights_N, 1)};
}

Loss group_loss(const at::Tensor& logits_ND, std::span<const int32_t> starts, std::span<const int32_t> labels_GD,
                double label_smoothing) {
  const auto columns = static_cast<size_t>(logits_ND.size(1));
  const at::Tensor log_p_ND = log_softmax_groups(logits_ND, starts), values_ND = log_p_ND.detach().cpu().contiguous();
  at::Tensor targets_ND = at::zeros(logits_ND.sizes(), at::kDouble);
  Loss loss;
  for (size_t g = 0; g + 1 < starts.size(); ++g) {
    const auto labels_D = labels_GD.subspan(g * columns, columns);
    if (*std::ranges::min_element(labels_D) < 0) continue;
    bool is_right = true;
    for (size_t d = 0; d < columns; ++d) {
      const Column column{columns, d, starts[g], starts[g + 1]};
      set_target(targets_ND.data_ptr<double>(), column, labels_D[d], label_smoothing);
      is_right = is_right && largest_of(values_ND.const_data_ptr<double>(), column) == labels_D[d];
    }
    ++loss.count;
    loss.correct += is_right;
  }
  loss.sum = -(log_p_ND * targets_ND.to(logits_ND.device())).sum() / static_cast<double>(columns);
  return loss;
}

Loss regression_loss(const at::Tensor& logits_NC, std::span<const float> labels_NC, std::span<const float> weights_N) {
  const at::Tensor labels = to_tensor(labels_NC, logits_NC.sizes(), logits_NC);
  return {weigh_rows((logits_NC - labels).square(), weights_N).sum(at::kDouble), logits_NC.numel(), 0,
          weight_of(weights_N, logits_NC.size(1))};
}

Loss binary_loss(const at::Tensor& logits_NC, std::span<const float> labels_NC, std::span<const float> weights_N) {
  const at::Tensor labels = to_tensor(labels_NC, logits_NC.sizes(), logits_NC);
  const at::Tensor right = logits_NC.ge(0).eq(labels.ge(0.5));
  return {weigh_rows(at::softplus(logits_NC) - logits_NC * labels, weights_N).sum(at::kDouble), logits_NC.numel(),
          right.sum().item<int64_t>(), weight_of(weights_N, logits_NC.size(1))};
}

}  // namespace deberta::train
