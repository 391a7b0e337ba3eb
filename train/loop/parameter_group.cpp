#include "train/loop/parameter_group.h"

#include <algorithm>
#include <cmath>

#include "train/optim/gradient_norm.h"

namespace deberta::train {
namespace {

ParameterLayout layout_of(const std::vector<NamedParameter>& parameters) {
  std::vector<NamedShape> shapes;
  for (const NamedParameter& parameter : parameters) {
    shapes.push_back({parameter.name, Shape(parameter.tensor.sizes().begin(), parameter.tensor.sizes().end())});
  }
  return make_layout(shapes);
}

FlatBuffer values_of(const std::vector<NamedParameter>& parameters, const ParameterLayout& layout) {
  FlatBuffer weights(layout);
  for (size_t n = 0; n < parameters.size(); ++n) {
    const at::Tensor values = parameters[n].tensor.detach().contiguous();
    std::copy_n(values.const_data_ptr<float>(), layout.slots[n].count, weights.of(layout.slots[n]).begin());
  }
  return weights;
}

}  // namespace

ParameterGroup::ParameterGroup(const std::vector<NamedParameter>& parameters, const AdamOptions& options,
                               const Parallel& parallel)
    : layout_(layout_of(parameters)),
      weights_(values_of(parameters, layout_)),
      gradients_(layout_),
      adam_(layout_, options, weights_),
      parallel_(parallel) {}

std::vector<ParameterMemory> ParameterGroup::memory() {
  std::vector<ParameterMemory> memory;
  for (const ParameterSlot& slot : layout_.slots) {
    memory.push_back({weights_.of(slot).data(), gradients_.of(slot).data()});
  }
  return memory;
}

ParameterGroup::Update ParameterGroup::update(const UpdateSettings& settings) {
  const double norm = global_norm(layout_, gradients_, parallel_);
  const bool is_finite = settings.has_finite_loss && std::isfinite(norm);
  if (is_finite) {
    adam_.step({.learning_rate = settings.rate,
                .divisor = clip_divisor(norm, settings.max_norm, settings.count),
                .zeroes_gradients = true,
                .parallel = parallel_},
               weights_, gradients_);
  } else {
    std::ranges::fill(gradients_.all(), 0.0f);
  }
  return {norm / settings.count, is_finite};
}

}  // namespace deberta::train
