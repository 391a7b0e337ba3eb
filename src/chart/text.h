// Texts in pictures and pages: markup escaped, numbers as people read them, and how wide a text is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deberta::chart {

// For the text and the attributes of HTML and SVG: &<>"' escaped; what is not UTF-8, and control characters, become
// U+FFFD.
std::string escape_html(std::string_view text);

std::string axis_number(double value, int digits = 4);  // "12.3k", "5e-4", "not finite": for axes and legends
std::string exact_number(double value);                 // six digits: "0.191324"
std::string grouped(int64_t value);                     // "6,500,000"

// An estimate, in pixels, that no usual font exceeds by much: charts are laid out without one.
double text_width(std::string_view text, double font_size);

// As many characters as fit into `width`, with an ellipsis in place of the rest.
std::string shortened(std::string_view text, double font_size, double width);

// Lines of whole words that fit into `width`, at most `most`; what does not fit is cut.
std::vector<std::string> wrapped(std::string_view text, double font_size, double width, size_t most);

}  // namespace deberta::chart
