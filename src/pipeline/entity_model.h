// Opens the folder of a GLiNER model: its configuration, the tokenizer with its marks, the weights. What the folder
// lacks is taken from the base model that it names.
#pragma once
#include <string>

#include "deberta/pipeline.h"

namespace deberta {

// The encoder is read by the rules of transformers, which trained it, and so are its texts: by the fast tokenizer.
// Throws what open_pipeline() throws, kFileNotFound for a base model that is needed and not there.
Pipeline open_entity_model(const std::string& folder, ModelOptions options, const OpenOptions& open_options);

}  // namespace deberta
