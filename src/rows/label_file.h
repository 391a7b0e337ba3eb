// A file with the labels of entities.
#pragma once
#include <string>
#include <vector>

#include "deberta/pipeline.h"

namespace deberta {

// A document as `read_entity_labels` takes it, if the file's name ends with .json; else a label in each line, perhaps
// with a description after a tab, blank lines left out. Throws kInput, and what reading throws.
std::vector<EntityLabel> load_entity_labels(const std::string& path);

}  // namespace deberta
