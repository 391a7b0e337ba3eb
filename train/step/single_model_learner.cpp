// Saves and loads weights, LoRA matrices and optimiser state under the names of a checkpoint.
#include "train/step/single_model_learner.h"

#include "checkpoint/safetensors.h"
#include "deberta/checkpoint.h"
#include "train/step/vocabulary.h"

namespace deberta::train {

void SingleModelLearner::add_models(ManifestWriter& files) {
  add_model_files(files, model(), tokenizer_.folder, files_);
}

uint64_t SingleModelLearner::models_bytes() {
  return size_of_files(model());
}

std::vector<TensorView> SingleModelLearner::optimizer_tensors() {
  std::vector<TensorView> tensors = trainer_.group().state_tensors("");
  for (TensorView& tensor : lora_views(model())) tensors.push_back(std::move(tensor));
  return tensors;
}

// The model's files have the sums of LoRA; what they are made of is with the optimiser.
void SingleModelLearner::load(const std::string& checkpoint) {
  check_pieces_of_checkpoint(checkpoint, tokenizer_);
  const std::string optimizer = checkpoint + "/trainer/optim.safetensors";
  load_parameters(model(), Checkpoint::open(checkpoint));
  if (model().form.lora) load_parameters(model(), Checkpoint::open_file(optimizer), {.reads_lora = true});
  trainer_.group().load_state(SafetensorsFile(optimizer), "");
  trainer_.merge();
}

void SingleModelLearner::write_models(const std::string& folder) {
  write_model_files_into(folder, model(), tokenizer_.folder, files_);
}

}  // namespace deberta::train
