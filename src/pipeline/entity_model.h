// Opens the folder of a GLiNER model: its configuration, the tokenizer with its marks, the weights. What the folder
// lacks is taken from the base model that it names.
#pragma once
#include <string>

#include "deberta/pipeline.h"

namespace deberta {

// All of such a model but its weights.
struct EntityModelParts {
  ModelConfig config;  // the encoder's, with `extraction`
  Tokenizer tokenizer;
  EntityMarks marks;
};
EntityModelParts open_entity_parts(const std::string& folder);

// The configuration of the folder's model, whichever file has it. Throws what open_entity_parts() and
// load_model_config() throw. `rules`: of a config.json; a GLiNER model has those of transformers.
ModelConfig load_folder_config(const std::string& folder, ConfigRules rules = ConfigRules::kOriginal);

// The same with the tokenizer, which is perhaps that of the base model.
struct FolderParts {
  ModelConfig config;
  Tokenizer tokenizer;
};
FolderParts open_folder_parts(const std::string& folder);

// The ids of the marks that the configuration names. Throws kConfig, naming the folder's file, for a tokenizer without
// them.
EntityMarks marks_in(const Tokenizer& tokenizer, const ExtractionConfig& extraction, const std::string& folder);

// The encoder is read by the rules of transformers, which trained it, and so are its texts: by the fast tokenizer.
// Throws what open_pipeline() throws, kFileNotFound for a base model that is needed and not there.
Pipeline open_entity_model(const std::string& folder, const ModelOptions& options, const OpenOptions& open_options);

}  // namespace deberta
