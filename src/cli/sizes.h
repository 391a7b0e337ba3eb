// The table of sizes that `info --sizes` prints.
#pragma once
#include "options/verb_options.h"

namespace deberta::cli {

// Parameters and operations by part of each model that is named: a published size, a config.json or a model's folder.
void print_sizes(const InfoVerb& options);

}  // namespace deberta::cli
