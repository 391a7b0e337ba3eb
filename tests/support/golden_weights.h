// The model of a fixture under tests/golden/model: its weights are made from the recipe in its JSON, as
// tools/goldens/weights.py makes them, to the last bit.
#pragma once
#include <string>

#include "base/json.h"

namespace deberta::test {

// Writes config.json and model.safetensors.
void write_golden_model(const std::string& folder, const Json& about);

}  // namespace deberta::test
