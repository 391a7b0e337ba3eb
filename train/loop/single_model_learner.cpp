#include "train/loop/single_model_learner.h"

#include "checkpoint/safetensors.h"
#include "deberta/checkpoint.h"

namespace deberta::train {

void SingleModelLearner::add_models(ManifestWriter& files) {
  add_model_files(files, model(), tokenizer_folder_, files_);
}

uint64_t SingleModelLearner::models_bytes() {
  return size_of_files(model());
}

void SingleModelLearner::load(const std::string& checkpoint) {
  load_parameters(model(), Checkpoint::open(checkpoint));
  trainer_.group().load_state(SafetensorsFile(checkpoint + "/trainer/optim.safetensors"), "");
}

void SingleModelLearner::write_models(const std::string& folder) {
  write_model_files_into(folder, model(), tokenizer_folder_, files_);
}

}  // namespace deberta::train
