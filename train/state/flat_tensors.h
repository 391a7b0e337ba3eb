// Flat buffers as the tensors of a file, and back: PREFIX + the name of the parameter.
#pragma once
#include <string>
#include <vector>

#include "checkpoint/safetensors.h"
#include "train/optim/adam.h"

namespace deberta::train {

// The bytes are those of the buffer, not a copy.
std::vector<TensorView> flat_tensors(const ParameterLayout& layout, const FlatBuffer& buffer,
                                     const std::string& prefix);

// Copies what `file` has for each slot. Throws kTensors: all that are missing or not fp32 of the slot's shape.
void load_flat_tensors(const SafetensorsFile& file, const ParameterLayout& layout, const std::string& prefix,
                       FlatBuffer& buffer);

// The state of an optimiser: PREFIX + m.NAME, v.NAME, slow.NAME and average.NAME where they are kept, and steps. Not
// copied either.
std::vector<TensorView> optimizer_tensors(const Adam& adam, const std::string& prefix);

// Throws kTensors. `adam` has the options and the layout of the one that was saved.
void load_optimizer(const SafetensorsFile& file, const std::string& prefix, Adam& adam);

}  // namespace deberta::train
