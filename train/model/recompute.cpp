// An autograd function that saves a layer's inputs and runs the layer again in the backward pass.
#include "train/model/recompute.h"

#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <utility>
#include <vector>

#include "train/ops/kernel_call.h"

namespace deberta::train {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct LayerCall {
  Pass pass;
  Layer layer;
  size_t number = 0;
  bool has_relative = false;
};

std::vector<at::Tensor> tensors_of(const Pass& pass, Layer layer) {
  std::vector<at::Tensor> tensors;
  visit(layer, pass.form, "", [&](const ParameterSpec&, at::Tensor& tensor) { tensors.push_back(tensor); });
  return tensors;
}

// The layer on its inputs: hidden states, the relative table if there is one, then the layer's own tensors.
at::Tensor run(const LayerCall& call, at::TensorList inputs) {
  Layer layer = call.layer;
  size_t next = call.has_relative ? 2 : 1;
  visit(layer, call.pass.form, "", [&](const ParameterSpec&, at::Tensor& tensor) { tensor = inputs[next++]; });
  return encoder_layer(call.pass, layer, inputs[0], call.has_relative ? inputs[1] : at::Tensor(), call.number);
}

class RecomputedLayer : public torch::autograd::Function<RecomputedLayer> {
 public:
  static at::Tensor forward(AutogradContext* context, const LayerCall& call, at::TensorList inputs) {
    context->save_for_backward(inputs.vec());
    hold(context, call);
    return run(call, inputs);
  }

  static variable_list backward(AutogradContext* context, const variable_list& outputs) {
    const at::AutoGradMode with_gradients(true);
    std::vector<at::Tensor> inputs, differentiable;
    for (const at::Tensor& saved : context->get_saved_variables()) {
      inputs.push_back(saved.detach().requires_grad_(saved.requires_grad()));
      if (saved.requires_grad()) differentiable.push_back(inputs.back());
    }
    const at::Tensor y_TD = run(held<LayerCall>(context), inputs);
    const variable_list input_gradients =
        torch::autograd::grad({y_TD}, differentiable, outputs, std::nullopt, false, true);
    variable_list gradients(1);  // an undefined one for the call
    size_t next = 0;
    for (const at::Tensor& input : inputs)
      gradients.push_back(input.requires_grad() ? input_gradients[next++] : at::Tensor());
    return gradients;
  }
};

}  // namespace

at::Tensor recomputed_layer(const Pass& pass, const Layer& layer, const at::Tensor& hidden_TD,
                            const at::Tensor& relative_RD, size_t number) {
  std::vector<at::Tensor> inputs = {hidden_TD};
  if (relative_RD.defined()) inputs.push_back(relative_RD);
  for (at::Tensor& tensor : tensors_of(pass, layer)) inputs.push_back(std::move(tensor));
  return RecomputedLayer::apply(LayerCall{pass, layer, number, relative_RD.defined()}, at::TensorList(inputs));
}

}  // namespace deberta::train
