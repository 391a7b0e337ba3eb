// Help texts, made from the option table.
#pragma once
#include <string>
#include <string_view>

#include "options/verb_options.h"

namespace deberta::program {

std::string overview();                      // what the program can do
std::string help_of(std::string_view verb);  // usage, options by section, an example
std::string manual();                        // all of it as a manual page (manual.cpp)

int run(const HelpVerb& options);
int run(const CompletionVerb& options);  // completion.cpp

}  // namespace deberta::program
