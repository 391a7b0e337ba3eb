// From a command line, a --config file and the environment to the options of a verb.
#pragma once
#include <string>
#include <vector>

#include "options/options.h"

namespace deberta::program {

// Set for a program that this one starts with the same command line and the same environment: the notes on both are
// printed once.
inline constexpr const char* kNotesPrinted = "DEBERTA_NOTES_PRINTED";

struct CommandLine {
  Options options;
  bool wants_help = false;
  std::vector<std::string> notes;  // for the user
};

// `words` is what follows the program's name, the verb first. Precedence: flag, environment, --config file, default.
// Throws kUsage (unknown verb or option with the nearest name, missing or bad value), and what reading the file throws.
CommandLine parse_command_line(const std::vector<std::string>& words);

}  // namespace deberta::program
