// Lines on standard error for a person.
#pragma once
#include <string>

namespace deberta::cli {

void set_quiet(bool quiet);  // --quiet; of the whole program, before its verb runs
bool is_quiet();
void note(const std::string& text);  // unless it is quiet

}  // namespace deberta::cli
