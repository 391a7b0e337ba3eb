// The other program, which trains.
#pragma once
#include <string>
#include <vector>

namespace deberta::cli {

// Replaces this process by deberta-train with the same words: the one beside this program, else in PATH. Throws
// kFileNotFound.
[[noreturn]] void start_training_program(const std::vector<std::string>& words);

}  // namespace deberta::cli
