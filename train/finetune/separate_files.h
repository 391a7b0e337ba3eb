// Checks that no file is both trained on and evaluated on.
#pragma once
#include <string>
#include <vector>

namespace deberta::train {

// Files, and folders as the files in them. Throws kUsage where an evaluation file is a training file or has its bytes.
// Files that cannot be read are left to those that read them.
void check_separate(const std::vector<std::string>& training, const std::vector<std::string>& evaluation);

}  // namespace deberta::train
