// A guard's classes: those that are a finding, and those that are benign.
#pragma once
#include <string>
#include <vector>

#include "deberta/pipeline.h"

namespace deberta {

// For each class of the model whether it is a finding. `benign`: the names of the classes that are none; empty: those
// named benign, safe, clean, ham or legit in any case. Throws kUsage for a name that is no class, and where none or all
// of the classes are benign; a model with a single class has no other one.
std::vector<bool> finding_classes(const Pipeline& pipeline, const std::vector<std::string>& benign);

}  // namespace deberta
