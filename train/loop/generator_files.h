// The files of a generator of replaced-token detection: a model folder, or those that are published in the folder of
// its discriminator.
#pragma once
#include <string>

#include "deberta/checkpoint.h"
#include "deberta/config.h"

namespace deberta::train {

struct GeneratorFiles {
  ModelConfig config;  // with the layout of the weights
  Checkpoint weights;
};

// A folder with pytorch_model.generator.bin has the generator in that and in generator_config.json. Throws what
// reading throws.
GeneratorFiles open_generator(const std::string& folder);

}  // namespace deberta::train
