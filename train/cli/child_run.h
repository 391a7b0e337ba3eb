// A run in a process of its own: this program again, with other words. What it prints goes to a file, its progress to
// us.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "train/ablation/runner.h"

namespace deberta::train {

// Follows it to its end; `on_progress` gets the part that it has done of its present phase. A signal to this process is
// passed on, and the child's end awaited; a kill of this process kills the child. No other thread may run. Throws
// kFileWrite for the log, kInternal where no process can be started.
RunEnd run_child(const std::vector<std::string>& words, const std::string& log_path,
                 const std::function<void(double fraction)>& on_progress);

}  // namespace deberta::train
