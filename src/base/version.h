// The version of the program and library.
#pragma once
#include <string_view>

namespace deberta {
std::string_view version();  // "0.1.0"
}
