// What is asked of the path of a model directory before it is opened.
#pragma once
#include <string>

#include "deberta/checkpoint.h"

namespace deberta {

// What a verb says of a model whose head is not its own: kTask with the verbs that fit.
[[noreturn]] void refuse_head(const std::string& verb, const std::string& expected, Head got);

// kFileNotFound with the remedy when `path` is empty or no directory.
void check_model_directory(const std::string& path);

}  // namespace deberta
