// What LoRA trained, as the folder of an adapter that peft puts on the model it began with: adapter_config.json, and
// adapter_model.safetensors with the matrices and the head.
#pragma once
#include <optional>
#include <string>

#include "train/model/model.h"

namespace deberta::train {

// Why peft and transformers have no such adapter; nothing: they have.
std::optional<std::string> find_adapter_obstacle(const ModelForm& form);

// Replaces the folder as a whole. `base_model`: the model to begin with, as it was named. Throws kFileWrite.
void write_adapter(const std::string& folder, Model& model, const std::string& base_model);

}  // namespace deberta::train
