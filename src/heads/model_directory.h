// What is asked of the path of a model directory before it is opened.
#pragma once
#include <string>

namespace deberta {

// kFileNotFound with the remedy when `path` is empty or no directory.
void check_model_directory(const std::string& path);

}  // namespace deberta
