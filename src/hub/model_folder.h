// What is asked of the path of a model's folder before anything in it is read.
#pragma once
#include <string>

namespace deberta {

// kFileNotFound with the remedy when `path` is empty or no directory.
void check_model_directory(const std::string& path);

}  // namespace deberta
