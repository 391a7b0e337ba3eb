// Values and foreign text as the reports write them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace deberta::train {

// For the text and the attributes of HTML: &<>"' escaped; what is not UTF-8, and control characters, become U+FFFD.
std::string escape_html(std::string_view text);

// On one line of Markdown, in a table too: no character of it is markup.
std::string escape_markdown(std::string_view text);

std::string axis_number(double value);   // "12.3k", "5e-4", "not finite": for axes and legends
std::string exact_number(double value);  // six digits: "0.191324"
std::string grouped(int64_t value);      // "6,500,000"
std::string duration(double seconds);    // "1 h 05 min", "12.3 s"
std::string utc_time(double seconds);    // since 1970: "2025-01-31 12:00:00 UTC"

}  // namespace deberta::train
