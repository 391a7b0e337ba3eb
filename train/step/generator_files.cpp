// Tries pytorch_model.generator.bin with generator_config.json first, then an ordinary folder.
#include "train/step/generator_files.h"

#include <utility>

#include "base/file.h"
#include "checkpoint/folder_kind.h"
#include "checkpoint/tensor_table.h"
#include "config/model_config.h"
#include "heads/head_facts.h"

namespace deberta::train {
namespace {

std::string generator_beside(const std::string& folder) {
  return folder + "/pytorch_model.generator.bin";
}

OpenedFiles opened(ModelConfig config, Checkpoint weights) {
  config.layout = find_layout(config, weights);
  return {std::move(config), std::move(weights)};
}

OpenedFiles open_beside(const std::string& folder) {
  return opened(load_model_config(folder + "/generator_config.json"), Checkpoint::open_file(generator_beside(folder)));
}

OpenedFiles open_own(const std::string& folder) {
  return opened(load_model_config(folder + "/config.json"), Checkpoint::open(folder));
}

// As it is published, or as a run leaves it; empty: none.
std::string find_generator_of(const std::string& discriminator) {
  const std::string beside = generator_beside(discriminator), of_run = discriminator + "/../generator";
  if (is_regular_file(beside)) return beside;
  return is_regular_file(of_run + "/config.json") ? of_run : "";
}

}  // namespace

OpenedFiles open_generator(const std::string& folder) {
  return is_regular_file(generator_beside(folder)) ? open_beside(folder) : open_own(folder);
}

bool has_generator_alone(const std::string& folder) {
  return is_regular_file(generator_beside(folder)) && !has_weight_files(folder);
}

OpenedFiles open_model_or_generator(const std::string& folder) {
  return has_generator_alone(folder) ? open_beside(folder) : open_own(folder);
}

std::optional<std::string> describe_dropped(const std::string& folder, const Checkpoint& weights) {
  if (facts_of(detect_head(weights)).answers != HeadAnswers::kReplaced) return std::nullopt;
  const std::string generator = find_generator_of(folder);
  return folder + " is a discriminator: its head (mask_predictions) is dropped" +
         (generator.empty() ? "" : ", and its generator, " + generator + ", is not used");
}

}  // namespace deberta::train
