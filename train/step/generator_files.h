// The files of a pair of replaced-token detection: the generator's are a model folder, or those that are published in
// the folder of its discriminator.
#pragma once
#include <optional>
#include <string>

#include "deberta/checkpoint.h"
#include "deberta/config.h"

namespace deberta::train {

struct OpenedFiles {
  ModelConfig config;  // includes the layout of the weights
  Checkpoint weights;
};

// A folder with pytorch_model.generator.bin has the generator in that and in generator_config.json. Throws what
// reading throws.
OpenedFiles open_generator(const std::string& folder);

// Whether the folder has such a generator and no other weights.
bool has_generator_alone(const std::string& folder);

// The model of a folder; where a generator is alone, that.
OpenedFiles open_model_or_generator(const std::string& folder);

// What a run that begins with the discriminator in `folder`, and trains no pair, leaves of a pair; nothing where the
// weights are of another model.
std::optional<std::string> describe_dropped(const std::string& folder, const Checkpoint& weights);

}  // namespace deberta::train
