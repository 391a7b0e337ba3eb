// Escaped text for Markdown, durations and dates of the reports; chart/text.h has HTML and numbers.
#pragma once
#include <string>
#include <string_view>

namespace deberta::train {

// The text on one line of Markdown, also in a table, with no character that is markup.
std::string escape_markdown(std::string_view text);

std::string duration(double seconds);  // "1 h 05 min", "12.3 s"
std::string utc_time(double seconds);  // since 1970: "2025-01-31 12:00:00 UTC"

}  // namespace deberta::train
