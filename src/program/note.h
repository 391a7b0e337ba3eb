// Lines on standard error for the user.
#pragma once
#include <string>

namespace deberta::program {

void set_quiet(bool quiet);  // --quiet; for the whole program, before its verb runs
bool is_quiet();
void note(const std::string& text);  // unless --quiet is set

}  // namespace deberta::program
