// Adds up the gradients of the given losses and copies them out by name.
#include "train/objectives/replay.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/zeros_like.h>

namespace deberta::train {

ReplayedStep replay_step(Model& model, const std::vector<std::function<Loss()>>& losses) {
  const std::vector<NamedParameter> parameters = trained_parameters(model);
  for (const NamedParameter& parameter : parameters) {
    if (parameter.tensor.grad().defined()) parameter.tensor.mutable_grad().zero_();
  }
  ReplayedStep step;
  double sum = 0, divisor = 0;
  for (const auto& loss_of_batch : losses) {
    const Loss loss = loss_of_batch();
    sum += loss.sum.item<double>();
    divisor += loss.divisor();
    step.count += loss.count;
    step.correct += loss.correct;
    if (loss.count > 0) loss.sum.backward();
  }
  if (step.count == 0) divisor = 1;
  step.loss = sum / divisor;
  for (const NamedParameter& parameter : parameters) {
    at::Tensor gradient = parameter.tensor.grad();
    if (gradient.defined() && gradient.is_sparse()) gradient = gradient.to_dense();  // a table that was looked up
    step.gradients.push_back(
        {parameter.name, gradient.defined() ? gradient / divisor : at::zeros_like(parameter.tensor)});
  }
  return step;
}

}  // namespace deberta::train
