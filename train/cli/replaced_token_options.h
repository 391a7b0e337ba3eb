// From the options of replaced-token detection to its settings.
#pragma once
#include "options/verb_options.h"
#include "train/pretrain/settings.h"

namespace deberta::train {

Objective objective_of(ObjectiveChoice choice);

PairOptions pair_options(const ReplacedTokenOptions& given);

// Throws kUsage for an option that is given and means nothing to the objective.
void check_objective(bool is_given, const OptionRow& option, Objective objective);
// The same for all of the group, and options that exclude each other.
void check_replaced_tokens(const ReplacedTokenOptions& given, Objective objective);

}  // namespace deberta::train
