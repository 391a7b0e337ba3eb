// Adds up the gradients of a step's losses, turns them into LoRA's, steps the group, and merges the result.
#include "train/step/trainer.h"

#include <cmath>
#include <utility>

#include "train/model/lora.h"

namespace deberta::train {

Trainer::Trainer(Model model, const OptimizerOptions& options, const Compute& compute)
    : model_(std::move(model)),
      group_(trained_parameters(model_, options.rates), options, compute.parallel),
      compute_(compute) {
  move_parameters(model_, group_.memory());
}

StepResult Trainer::step(std::span<const std::function<Loss()>> losses, const StepSettings& settings, const See& see) {
  StepResult result;
  const auto differentiate = [&](double scale) -> ParameterGroup::Differentiated {
    result = {};
    for (const auto& loss_of_batch : losses) {
      const Loss loss = loss_of_batch();
      if (loss.count == 0) continue;
      (scale == 1 ? loss.sum : loss.sum * scale).backward();
      result.loss += loss.sum.item<double>();
      result.divisor += loss.divisor();
      result.count += loss.count;
      result.correct += loss.correct;
    }
    differentiate_lora(compute_, model_);
    if (see && result.count > 0) see(group_.gradients(), result.divisor * scale);
    return {.divisor = result.divisor, .has_finite_loss = std::isfinite(result.loss)};
  };
  const ParameterGroup::Update update = group_.step(
      differentiate,
      {.rate = settings.rate, .max_norm = settings.max_norm, .store = losses.size() > 1 ? settings.store : nullptr});
  merge();
  result.norm = update.norm;
  result.is_finite = update.is_finite;
  result.loss_scale = update.loss_scale;
  return result;
}

void Trainer::exchange_averages() {
  group_.exchange_averages();
  merge();
}

void Trainer::merge() {
  merge_lora(compute_, model_);
}

}  // namespace deberta::train
