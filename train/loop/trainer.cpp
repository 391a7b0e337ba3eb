#include "train/loop/trainer.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "train/optim/gradient_norm.h"

namespace deberta::train {
namespace {

ParameterLayout layout_of(Model& model) {
  std::vector<NamedShape> shapes;
  for (const NamedParameter& parameter : trained_parameters(model)) {
    shapes.push_back({parameter.name, Shape(parameter.tensor.sizes().begin(), parameter.tensor.sizes().end())});
  }
  return make_layout(shapes);
}

// The weights with the model's values; the model then reads and adds up in these buffers.
FlatBuffer move_into(Model& model, const ParameterLayout& layout, FlatBuffer& gradients) {
  FlatBuffer weights(layout);
  std::vector<ParameterMemory> memory;
  for (const ParameterSlot& slot : layout.slots) memory.push_back({weights.of(slot).data(), gradients.of(slot).data()});
  move_parameters(model, memory);
  return weights;
}

}  // namespace

Trainer::Trainer(Model model, const AdamOptions& options, const Parallel& parallel)
    : model_(std::move(model)),
      layout_(layout_of(model_)),
      gradients_(layout_),
      adam_(layout_, options, weights_ = move_into(model_, layout_, gradients_)),
      parallel_(parallel) {}

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
  if (see) see(gradients_, count);
  const double norm = global_norm(layout_, gradients_, parallel_);
  result.norm = norm / count;
  result.is_finite = std::isfinite(result.loss) && std::isfinite(norm);
  if (result.is_finite) {
    adam_.step({.learning_rate = settings.rate,
                .divisor = clip_divisor(norm, settings.max_norm, count),
                .zeroes_gradients = true,
                .parallel = parallel_},
               weights_, gradients_);
  } else {
    std::ranges::fill(gradients_.all(), 0.0f);
  }
  return result;
}

}  // namespace deberta::train
