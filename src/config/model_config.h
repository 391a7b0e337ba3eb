// Configurations from and to JSON documents.
#pragma once
#include <string>

#include "base/json.h"
#include "deberta/config.h"

namespace deberta {

// Like load_model_config, but from a document; `where` opens the messages.
ModelConfig parse_model_config(const Json& document, const std::string& where,
                               ConfigRules rules = ConfigRules::kOriginal);

// The model_type of a file: the layout's, and where the head pools by classifier_pooling other than the first token, a
// name that transformers refuses: it would silently read the first token.
std::string model_type_of(const ModelConfig& config, bool pools);

// ModelConfig::raw as a document; null when the configuration was not read from one.
Json raw_document(const ModelConfig& config);

}  // namespace deberta
