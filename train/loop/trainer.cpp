#include "train/loop/trainer.h"

#include <cmath>
#include <utility>

namespace deberta::train {

Trainer::Trainer(Model model, const AdamOptions& options, const Parallel& parallel)
    : model_(std::move(model)), group_(trained_parameters(model_), options, parallel) {
  move_parameters(model_, group_.memory());
}

StepResult Trainer::step(std::span<const std::function<Loss()>> losses, const StepSettings& settings, const See& see) {
  StepResult result;
  for (const auto& loss_of_batch : losses) {
    const Loss loss = loss_of_batch();
    if (loss.count == 0) continue;
    loss.sum.backward();
    result.loss += loss.sum.item<double>();
    result.count += loss.count;
    result.correct += loss.correct;
  }
  if (result.count == 0) return result;
  const double count = static_cast<double>(result.count);
  if (see) see(group_.gradients(), count);
  const ParameterGroup::Update update = group_.update({.rate = settings.rate,
                                                       .max_norm = settings.max_norm,
                                                       .count = count,
                                                       .has_finite_loss = std::isfinite(result.loss)});
  result.norm = update.norm;
  result.is_finite = update.is_finite;
  return result;
}

}  // namespace deberta::train
