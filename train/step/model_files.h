// A model in training as others read it: as the files of a model folder, and as the engine's model in memory.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/manifest_writer.h"
#include "deberta/pipeline.h"
#include "train/model/model.h"
#include "train/step/run_tokenizer.h"
#include "train/step/workplace.h"

namespace deberta::train {

// The model with its tokenizer, read from the memory of `model`, which must outlive it and not change meanwhile; the
// engine computes it where it has the form. Throws what Model::load throws.
Pipeline to_pipeline(Model& model, const RunTokenizer& of_run, const Workplace& workplace);

// What the files of a model are besides its own.
struct ModelFilesRules {
  std::string subfolder = {};            // "generator/"
  std::vector<TensorView> tensors = {};  // more of them, under canonical names
  // The tokens of the longest sequences that the model was trained on. Where readers of the folder would cut texts at
  // less, the tokenizer's configuration has the number.
  std::optional<size_t> trained_tokens = {};
  std::vector<NamedText> tokenizer_files = {};  // instead of the tokenizer's own: RunTokenizer::changed_files()
};

// Adds the configuration, the weights in fp32 and the files of the tokenizer.
void add_model_files(ManifestWriter& files, Model& model, const std::string& tokenizer_folder,
                     const ModelFilesRules& rules = {});

// About as many bytes as add_model_files() writes.
uint64_t size_of_files(Model& model);

// Puts the same files into a folder that has others, each as a whole, the configuration last: a folder that has a model
// keeps it until then. The folder is made if its parent is there. `rules` have no subfolder. Throws kFileWrite.
void write_model_files_into(const std::string& folder, Model& model, const std::string& tokenizer_folder,
                            const ModelFilesRules& rules = {});

// SHA-256 of the configuration as it is written.
std::string hash_of_config(const ModelConfig& config);

}  // namespace deberta::train
