// ASCII letters and white space, as Python's lower() and strip() treat them; all other bytes stay as they are.
#pragma once
#include <string>
#include <string_view>

namespace deberta {

char lower_case(char letter);
std::string lower_case(std::string_view text);

// Without the white space at both ends: blank, tab, line ends, form feed, vertical tab and the four separators.
std::string_view strip(std::string_view text);

// Nothing but blanks, tabs, line ends, form feeds and vertical tabs.
bool is_white(std::string_view text);

}  // namespace deberta
