// Checks the path of a model's folder before anything in it is read.
#pragma once
#include <string>

namespace deberta {

// Throws kFileNotFound with a remedy if `path` is empty or not a directory.
void check_model_directory(const std::string& path);

}  // namespace deberta
