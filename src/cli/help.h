// Help texts, made from the option table.
#pragma once
#include <string>
#include <string_view>

namespace deberta::cli {

std::string overview();                      // what the program can do
std::string help_of(std::string_view verb);  // usage, options by section, an example

}  // namespace deberta::cli
