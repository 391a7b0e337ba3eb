// How the library warns: the sink is the program's (deberta/library.h).
#pragma once
#include <string_view>

namespace deberta {

// Hands one line to the sink.
void warn(std::string_view message);

}  // namespace deberta
