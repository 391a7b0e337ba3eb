// What a run that goes on must have in common with the one before.
#pragma once
#include <string>
#include <vector>

#include "train/state/trainer_state.h"

namespace deberta::train {

// Throws kUsage, all problems, where an option or a hash is another one than `before`, unless its name is in
// `overridden`. `folder` opens the messages.
void check_same_run(const TrainerState& before, const TrainerState& now, const std::vector<std::string>& overridden,
                    const std::string& folder);

// Throws kUsage for names of nothing that check_same_run() compares. `before`: of the run that goes on; null: none
// does.
void check_overridden(const std::vector<std::string>& overridden, const TrainerState& now, const TrainerState* before);

}  // namespace deberta::train
