// Layers whose activations are not kept (gradient checkpointing): only their inputs are, and the backward pass computes
// the layer again. All draws are functions of their position, so that it is the same layer; gradients are the same
// bits, since a layer's contributions are added before they leave it (layer.h).
// T packed tokens  D hidden  R relative rows
#pragma once
#include "train/model/layer.h"

namespace deberta::train {

// What encoder_layer() returns. The form and the compute of `pass` outlive the backward pass.
at::Tensor recomputed_layer(const Pass& pass, const Layer& layer, const at::Tensor& hidden_TD,
                            const at::Tensor& relative_RD, size_t number);

}  // namespace deberta::train
