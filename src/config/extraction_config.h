// gliner_config.json: what stands on the encoder of a GLiNER model, and the encoder's own configuration where the file
// has it.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"
#include "deberta/config.h"

namespace deberta {

inline constexpr std::string_view kExtractionFile = "gliner_config.json";

struct ExtractionFile {
  ExtractionConfig extraction;
  std::optional<Json> encoder;  // encoder_config; older files have none, and mean that of the base model
};

// Keys that inference does not read are passed over. Throws kConfig for wrong values, kUnsupported for what a model of
// another family says of itself; each lists all of them.
ExtractionFile parse_extraction_config(const Json& document, const std::string& where);

// The same from the file of a folder. Throws kJson and kFileNotFound, too.
ExtractionFile load_extraction_config(const std::string& folder);

// The file's members as they were read, with every key that inference reads written out.
JsonObject extraction_document(const ExtractionConfig& config);

// The name of the file that has the configuration of such a model.
std::string_view config_file_of(const ModelConfig& config);

// ExtractionConfig::raw as a document; null when the configuration was not read from one.
Json raw_document(const ExtractionConfig& config);

// By which rule the model counts distances: a GLiNER model by that of transformers, with which it was trained.
DistanceRule distance_rule(const ModelConfig& config, DistanceRule requested);

// Whether the folder has the file.
bool is_extraction_folder(const std::string& folder);

}  // namespace deberta
