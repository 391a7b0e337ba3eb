#include "train/loop/generator_files.h"

#include <utility>

#include "base/file.h"
#include "checkpoint/tensor_table.h"
#include "config/model_config.h"

namespace deberta::train {

GeneratorFiles open_generator(const std::string& folder) {
  const std::string beside = folder + "/pytorch_model.generator.bin";
  const bool is_beside = is_regular_file(beside);
  ModelConfig config = load_model_config(folder + (is_beside ? "/generator_config.json" : "/config.json"));
  Checkpoint weights = is_beside ? Checkpoint::open_file(beside) : Checkpoint::open(folder);
  config.layout = find_layout(config, weights);
  return {std::move(config), std::move(weights)};
}

}  // namespace deberta::train
