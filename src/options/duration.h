// A length of time as people write it.
#pragma once
#include <string_view>

namespace deberta {

// "90m" -> 5400: seconds, or a number of seconds, minutes, hours or days with s, m, h or d. Throws kUsage.
double parse_duration(std::string_view text, std::string_view where);

}  // namespace deberta
