#include "train/objectives/task_losses.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/softplus.h>

#include <algorithm>

namespace deberta::train {
namespace {

// fp32 values as a tensor like the logits.
at::Tensor to_labels(std::span<const float> values, const at::Tensor& logits) {
  at::Tensor labels = at::empty({static_cast<int64_t>(values.size())}, at::kFloat);
  std::copy(values.begin(), values.end(), labels.data_ptr<float>());
  return labels.view(logits.sizes()).to(logits.options().requires_grad(false));
}

}  // namespace

Loss class_loss(const at::Tensor& logits_NC, std::span<const int32_t> labels_N) {
  at::Tensor labels = at::empty({static_cast<int64_t>(labels_N.size()), 1}, at::kLong);
  std::copy(labels_N.begin(), labels_N.end(), labels.data_ptr<int64_t>());
  labels = labels.to(logits_NC.device());
  const at::Tensor counts_N1 = labels.ge(0);
  const at::Tensor picked_N1 = logits_NC.log_softmax(1).gather(1, labels.clamp_min(0));
  const at::Tensor right_N1 = logits_NC.argmax(1, true).eq(labels);
  return {-picked_N1.masked_fill(counts_N1.logical_not(), 0).sum(at::kDouble), counts_N1.sum().item<int64_t>(),
          right_N1.sum().item<int64_t>()};
}

Loss soft_class_loss(const at::Tensor& logits_NC, std::span<const float> labels_NC) {
  const at::Tensor labels = to_labels(labels_NC, logits_NC);
  return {-(logits_NC.log_softmax(1) * labels).sum(at::kDouble), logits_NC.size(0),
          logits_NC.argmax(1).eq(labels.argmax(1)).sum().item<int64_t>()};
}

Loss regression_loss(const at::Tensor& logits_N1, std::span<const float> labels_N) {
  return {(logits_N1 - to_labels(labels_N, logits_N1)).square().sum(at::kDouble), logits_N1.numel(), 0};
}

Loss binary_loss(const at::Tensor& logits_NC, std::span<const float> labels_NC) {
  const at::Tensor labels = to_labels(labels_NC, logits_NC);
  const at::Tensor right = logits_NC.ge(0).eq(labels.ge(0.5));
  return {(at::softplus(logits_NC) - logits_NC * labels).sum(at::kDouble), logits_NC.numel(),
          right.sum().item<int64_t>()};
}

}  // namespace deberta::train
