// Elements of SVG as text.
#include "chart/svg.h"

#include <fmt/format.h>

#include "chart/palette.h"
#include "chart/text.h"

namespace deberta::chart {
namespace {

// The end of an element that may have a title.
std::string closed(std::string_view name, std::string_view about) {
  return about.empty() ? "/>\n" : fmt::format("><title>{}</title></{}>\n", escape_html(about), name);
}

}  // namespace

std::string px(double value) {
  std::string text = fmt::format("{:.1f}", value + 0.0);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string text_at(double x, double y, std::string_view style, std::string_view text) {
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}</text>\n", style, px(x), px(y), escape_html(text));
}

std::string line_at(double x1, double y1, double x2, double y2, std::string_view style) {
  return fmt::format("<path class=\"{}\" d=\"M{} {}L{} {}\"/>\n", style, px(x1), px(y1), px(x2), px(y2));
}

std::string rectangle(double x, double y, double width, double height, std::string_view style, std::string_view about) {
  return fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", style, px(x), px(y), px(width),
                     px(height)) +
         closed("rect", about);
}

std::string circle(double x, double y, double radius, std::string_view style, std::string_view about) {
  return fmt::format("<circle class=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"", style, px(x), px(y), px(radius)) +
         closed("circle", about);
}

std::string cut_text_at(double x, double y, std::string_view style, std::string_view text, double width) {
  const std::string cut = shortened(text, kFont, width);
  if (cut == text) return text_at(x, y, style, text);
  return fmt::format("<text class=\"{}\" x=\"{}\" y=\"{}\">{}<title>{}</title></text>\n", style, px(x), px(y),
                     escape_html(cut), escape_html(text));
}

std::string series_style(size_t number) {
  return fmt::format("c{}{}", number % kSeriesColours, number < kSeriesColours ? "" : " dashed");
}

}  // namespace deberta::chart
