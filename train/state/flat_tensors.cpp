// Names each slot of a buffer, and checks shapes and types when they are read back.
#include "train/state/flat_tensors.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "checkpoint/tensor.h"

namespace deberta::train {
namespace {

constexpr const char* kSteps = "steps";

// The parts of an optimiser's state, by the names they have in a file.
template <class State, class Visit>
void visit_buffers(State& state, Visit&& buffer) {
  buffer("m.", state.m);
  buffer("v.", state.v);
  if (state.slow.size() > 0) buffer("slow.", state.slow);
  if (state.averages.size() > 0) buffer("average.", state.averages);
}

}  // namespace

std::vector<TensorView> flat_tensors(const ParameterLayout& layout, const FlatBuffer& buffer,
                                     const std::string& prefix) {
  std::vector<TensorView> tensors;
  for (const ParameterSlot& slot : layout.slots)
    tensors.push_back({prefix + slot.name, DType::kF32, slot.shape, std::as_bytes(buffer.of(slot))});
  return tensors;
}

void load_flat_tensors(const SafetensorsFile& file, const ParameterLayout& layout, const std::string& prefix,
                       FlatBuffer& buffer) {
  std::vector<Problem> problems;
  for (const ParameterSlot& slot : layout.slots) {
    const TensorView* tensor = file.find(prefix + slot.name);
    if (tensor == nullptr) {
      problems.push_back({file.path(), fmt::format("tensor {}{}: missing", prefix, slot.name)});
    } else if (tensor->dtype != DType::kF32 || tensor->shape != slot.shape) {
      problems.push_back(
          {file.path(), fmt::format("tensor {}{}: expected F32 {}, got {} {}", prefix, slot.name, to_string(slot.shape),
                                    to_string(tensor->dtype), to_string(tensor->shape))});
    } else {
      to_fp32(*tensor, buffer.of(slot).data());
    }
  }
  if (!problems.empty()) throw Error(ErrorCode::kTensors, std::move(problems));
}

std::vector<TensorView> optimizer_tensors(const Adam& adam, const std::string& prefix) {
  const Adam::State& state = adam.state();
  std::vector<TensorView> tensors{{prefix + kSteps, DType::kI64, {}, std::as_bytes(std::span(&state.steps, 1))}};
  visit_buffers(state, [&](const char* part, const FlatBuffer& buffer) {
    for (TensorView& tensor : flat_tensors(adam.layout(), buffer, prefix + part)) tensors.push_back(std::move(tensor));
  });
  return tensors;
}

void load_optimizer(const SafetensorsFile& file, const std::string& prefix, Adam& adam) {
  const TensorView* steps = file.find(prefix + kSteps);
  if (steps == nullptr || steps->dtype != DType::kI64 || steps->count() != 1)
    throw Error(ErrorCode::kTensors, file.path(), fmt::format("tensor {}{}: expected one I64", prefix, kSteps));
  adam.state().steps = to_int64(*steps).front();
  visit_buffers(adam.state(), [&](const char* part, FlatBuffer& buffer) {
    load_flat_tensors(file, adam.layout(), prefix + part, buffer);
  });
}

}  // namespace deberta::train
