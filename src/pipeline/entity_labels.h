// Labels of entities as users write them: in JSON, or by the name of a set of labels.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "deberta/pipeline.h"

namespace deberta {

// "a,b"; a list of texts, or of objects {label, description, threshold} of which the label alone must be there; an
// object from label to description, or null. Throws kInput.
std::vector<EntityLabel> read_entity_labels(const Json& value, const std::string& where);

// A set of labels by its name.
struct LabelPreset {
  struct Row {
    std::string_view name, text;
  };
  std::string_view name;
  std::span<const Row> rows;
};
std::span<const LabelPreset> label_presets();
// None for a name that no set has.
std::vector<EntityLabel> preset_labels(std::string_view name);

}  // namespace deberta
