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

}  // namespace deberta::train
