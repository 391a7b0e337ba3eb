// What the operations of this room share when they call kernels: raw memory of tensors, and plain values that wait for
// the backward pass.
#pragma once
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <utility>

#include "kernels/bf16.h"
#include "train/ops/compute.h"

namespace deberta::train {

// fp32, bf16 or bytes on the CPU, in order, for kernels.
inline at::Tensor new_floats(at::IntArrayRef shape) {
  return at::empty(shape, at::kFloat);
}
inline at::Tensor new_bf16(at::IntArrayRef shape) {
  return at::empty(shape, at::kBFloat16);
}
inline Bf16* bf16_of(const at::Tensor& x) {
  return static_cast<Bf16*>(x.mutable_data_ptr());
}
inline at::Tensor new_scratch(size_t size_bytes) {  // 64-byte aligned, as all of torch's memory on the CPU is
  return at::empty({static_cast<int64_t>(size_bytes + 64)}, at::kByte);  // never null
}
// An input that may be undefined: an autograd::Function takes no undefined tensor.
inline std::optional<at::Tensor> to_optional(const at::Tensor& tensor) {
  return tensor.defined() ? std::optional<at::Tensor>(tensor) : std::nullopt;
}
inline float* floats_or_null(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.mutable_data_ptr<float>() : nullptr;
}
inline size_t as_size(int64_t value) {
  return static_cast<size_t>(value);
}
inline size_t rows_of(const at::Tensor& x_ND) {
  return as_size(x_ND.size(0));
}
inline size_t columns_of(const at::Tensor& x_ND) {
  return as_size(x_ND.size(1));
}

// A value that is no tensor, kept by the graph. Tensors go through save_for_backward(), or the graph never ends.
template <class Value>
struct Held : torch::CustomClassHolder {
  explicit Held(Value kept) : value(std::move(kept)) {}
  Value value;
};

template <class Value>
void hold(torch::autograd::AutogradContext* context, Value value) {
  context->saved_data["held"] = c10::IValue::make_capsule(c10::make_intrusive<Held<Value>>(std::move(value)));
}
template <class Value>
const Value& held(const torch::autograd::AutogradContext* context) {
  return static_cast<const Held<Value>*>(context->saved_data.at("held").toCapsule().get())->value;
}

}  // namespace deberta::train
