// LoRA (Hu et al. 2021): a matrix W0 of the encoder stays as it was read, and what is trained is added to it:
//   W  = W0 + s B A,  s = alpha / r
//   dB = s dW A^T
//   dA = s B^T dW
// The model computes with W itself, once it is merged after each step, so that its passes, its files and the engine
// know nothing of LoRA.
// I inputs  O outputs  R rank
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "train/model/model.h"
#include "train/ops/compute.h"

namespace deberta::train {

// The modules of a model without tensors that its form names. Throws kUsage for a target that is unknown or that the
// model has not.
std::vector<LoraMatrices> list_lora(Model& model);

// W0 is what the weights are now; from here on the backward pass computes their gradients. B is 0 still.
void begin_lora(Model& model);

// Copies of W, which no other model shares.
void own_weights_of_lora(Model& model);

// W of A and B as they are. Sums are those of fp32 and the same for any number of threads.
void merge_lora(const Compute& compute, Model& model);

// Adds to the gradients of A and B, which must exist, what follows from those of W, and removes the latter.
void differentiate_lora(const Compute& compute, Model& model);

}  // namespace deberta::train
