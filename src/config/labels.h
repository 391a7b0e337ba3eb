// The label names of config.json: id2label, and label2id as a check on it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/json.h"

namespace deberta {

struct LabelNames {
  std::vector<std::string> labels;    // by id, LABEL_1 for one without a name; empty when the file names none
  int64_t count = 0;                  // then: num_labels; 0: the file does not say
  std::vector<std::string> problems;  // `id2label: expected ...`
  std::vector<std::string> warnings;
};
LabelNames parse_labels(const Json& document);

}  // namespace deberta
