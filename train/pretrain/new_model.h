// The configuration of a model that begins from nothing: the shape of a published one, with changes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "deberta/config.h"

namespace deberta::train {

struct NewModel {
  std::string name = "v3-base";             // a published size, or a config.json
  std::vector<std::string> overrides = {};  // "key=value", keys and values as in config.json
  int64_t vocab_size = 0;
  int64_t max_tokens = 512;  // in a sequence; a smaller max_position_embeddings is refused
};

// A `hidden_size` among the changes without heads or intermediate size brings its own: heads of 64, four times as wide.
// Throws kUsage for an unknown name or key, and what parse_model_config throws.
ModelConfig new_config(const NewModel& request);

}  // namespace deberta::train
