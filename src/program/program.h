// From argv to a verb; from an exception to an exit code.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "options/options.h"

namespace deberta::program {

// Runs the verb of the options and returns its exit code. Throws Error.
using RunVerb = int (*)(const Options& options);

// Runs the verb that the arguments name. Data goes to stdout, messages to stderr.
// Returns 0 done, 1 failed (also when rows failed), 2 wrong usage, 128 + its number on a signal (130: Ctrl-C).
int run_program(int argc, char** argv, RunVerb run_verb);

// For whoever writes the words of a command: names of the options of a verb, former ones too, and for each "flag", "of
// others" (scripts have it, the verb refuses it with a sentence) or the range of its values.
std::vector<std::pair<std::string, std::string>> option_kinds(std::string_view verb);

}  // namespace deberta::program
