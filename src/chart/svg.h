// Elements of SVG as text. Coordinates are pixels; `style` names classes of the style sheet (style.cpp).
#pragma once
#include <string>
#include <string_view>

namespace deberta::chart {

inline constexpr double kFont = 13, kTitleFont = 15;  // sizes of texts
inline constexpr double kBold = 1.14;                 // a bold text is so much wider
inline constexpr double kTextLine = 18;               // from one line of text to the next
inline constexpr double kEdge = 12;                   // around a picture

std::string px(double value);  // "12.5", "12"

std::string text_at(double x, double y, std::string_view style, std::string_view text);
std::string line_at(double x1, double y1, double x2, double y2, std::string_view style);

// With `about` for the pointer; "": none.
std::string rectangle(double x, double y, double width, double height, std::string_view style,
                      std::string_view about = {});
std::string circle(double x, double y, double radius, std::string_view style, std::string_view about = {});

// A text that is cut to `width`; the whole of it for the pointer. `style` has its anchor.
std::string cut_text_at(double x, double y, std::string_view style, std::string_view text, double width);

// "c2", of the colour of a series; from the eighth on with "dashed" as well.
std::string series_style(size_t number);

}  // namespace deberta::chart
