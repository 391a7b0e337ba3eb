// From the options of replaced-token detection to its settings.
#pragma once
#include "options/verb_options.h"
#include "train/pretrain/settings.h"

namespace deberta::train {

Objective objective_of(ObjectiveChoice choice);

PairOptions pair_options(const ReplacedTokenOptions& requested);

// Throws kUsage for an option that is set and means nothing to the objective.
void check_objective(bool is_given, const OptionRow& option, Objective objective);
// The same for all options of the group, and for options that exclude each other.
void check_replaced_tokens(const ReplacedTokenOptions& requested, Objective objective);

}  // namespace deberta::train
