// Flat weights and gradients, the norm over all of them, the loss scale, and one step of Adam.
#include "train/step/parameter_group.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "deberta/error.h"
#include "train/ops/packed_store.h"
#include "train/optim/gradient_norm.h"
#include "train/state/flat_tensors.h"

namespace deberta::train {
namespace {

constexpr const char* kLossScaleTensor = "loss_scale";

ParameterLayout layout_of(const std::vector<NamedParameter>& parameters) {
  std::vector<NamedShape> shapes;
  for (const NamedParameter& parameter : parameters) {
    shapes.push_back({parameter.name, Shape(parameter.tensor.sizes().begin(), parameter.tensor.sizes().end())});
  }
  ParameterLayout layout = make_layout(shapes);
  for (size_t n = 0; n < parameters.size(); ++n) layout.slots[n].rate = parameters[n].rate;
  return layout;
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

ParameterGroup::ParameterGroup(const std::vector<NamedParameter>& parameters, const OptimizerOptions& options,
                               const Parallel& parallel)
    : layout_(layout_of(parameters)),
      weights_(values_of(parameters, layout_)),
      gradients_(layout_),
      adam_(layout_, options.adam, weights_),
      loss_scale_(options.loss_scale),
      parallel_(parallel) {}

std::vector<ParameterMemory> ParameterGroup::memory() {
  std::vector<ParameterMemory> memory;
  for (const ParameterSlot& slot : layout_.slots) {
    memory.push_back({weights_.of(slot).data(), gradients_.of(slot).data()});
  }
  return memory;
}

ParameterGroup::Update ParameterGroup::step(const Differentiate& differentiate, const UpdateSettings& settings) {
  while (true) {
    Differentiated differentiated = run(differentiate, settings.store);
    if (differentiated.divisor == 0) return {};
    differentiated.divisor *= loss_scale_.value();
    Update result = update(differentiated, settings);
    if (result.is_finite) loss_scale_.count_clean();
    if (!result.is_finite && differentiated.has_finite_loss && loss_scale_.lower()) continue;
    if (loss_scale_.is_used()) result.loss_scale = loss_scale_.value();
    return result;
  }
}

ParameterGroup::Differentiated ParameterGroup::run(const Differentiate& differentiate, PackedStore* store) {
  const PackedStore::Scope kept(store, weights_.all());
  return differentiate(loss_scale_.value());
}

ParameterGroup::Update ParameterGroup::update(const Differentiated& differentiated, const UpdateSettings& settings) {
  const std::vector<double> squares = squares_by_block(layout_, gradients_, parallel_);
  const double norm = norm_of(squares);
  const bool is_finite = differentiated.has_finite_loss && std::isfinite(norm);
  if (is_finite) {
    adam_.step({.learning_rate = settings.rate,
                .divisor = clip_divisor(norm, settings.max_norm, differentiated.divisor),
                .zeroes_gradients = true,
                .squares = squares,
                .parallel = parallel_},
               weights_, gradients_);
  } else {
    std::ranges::fill(gradients_.all(), 0.0f);
  }
  return {norm / differentiated.divisor, is_finite};
}

void ParameterGroup::exchange_averages() {
  const std::span<float> averages = adam_.state().averages.all();
  std::ranges::swap_ranges(weights_.all().first(averages.size()), averages);
}

std::vector<TensorView> ParameterGroup::state_tensors(const std::string& prefix) const {
  std::vector<TensorView> tensors = optimizer_tensors(adam_, prefix);
  if (loss_scale_.is_used())
    tensors.push_back({prefix + kLossScaleTensor, DType::kF64, {2}, std::as_bytes(loss_scale_.state())});
  return tensors;
}

void ParameterGroup::load_state(const SafetensorsFile& file, const std::string& prefix) {
  load_optimizer(file, prefix, adam_);
  if (!loss_scale_.is_used()) return;
  const TensorView* tensor = file.find(prefix + kLossScaleTensor);
  if (tensor == nullptr || tensor->dtype != DType::kF64 || tensor->bytes.size() != sizeof(double) * 2)
    throw Error(ErrorCode::kTensors, file.path(), "tensor " + prefix + kLossScaleTensor + ": expected two F64");
  std::memcpy(loss_scale_.state().data(), tensor->bytes.data(), tensor->bytes.size());
}

}  // namespace deberta::train
