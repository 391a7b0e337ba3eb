// How the library warns; the program provides the sink (deberta/library.h).
#pragma once
#include <string_view>

namespace deberta {

// Hands one line to the sink.
void warn(std::string_view message);

}  // namespace deberta
