// From a command line, a --config file and the environment to the options of a verb.
#pragma once
#include <string>
#include <vector>

#include "options/options.h"

namespace deberta::cli {

struct CommandLine {
  Options options;
  bool wants_help = false;
  std::vector<std::string> notes;  // for the user
};

// `words` is what follows the program's name, the verb first. Precedence: flag, environment, --config file, default.
// Throws kUsage (unknown verb or option with the nearest name, missing or bad value), and what reading the file throws.
CommandLine parse_command_line(const std::vector<std::string>& words);

}  // namespace deberta::cli
