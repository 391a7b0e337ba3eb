// Titles, legends and axes.
#include "chart/frame.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "chart/svg.h"
#include "chart/text.h"

namespace deberta::chart {
namespace {

constexpr size_t kTitleLines = 3;
constexpr double kKey = 26, kKeyGap = 18;  // a mark with the space behind it; between two entries
constexpr double kTickGap = 7, kTick = 4;  // between an axis and its labels; the tick
constexpr double kTickLabelGap = 8;        // between neighbouring labels
constexpr double kTickRoom = 75;           // of a tick with its label
constexpr double kHalfText = 4;            // from the middle of a text down to its base line

void add_title(Sheet& sheet, const std::string& title) {
  for (const std::string& line : wrapped(title, kTitleFont * kBold, sheet.width - 2 * kEdge, kTitleLines)) {
    sheet.elements += text_at(kEdge, sheet.y + kTitleFont, "title", line);
    sheet.y += kTextLine + 2;
  }
}

std::string key_text(const Key& key, double x, double y) {
  std::string text = escape_html(key.name);
  if (!key.note.empty())
    text += fmt::format("{}<tspan class=\"strong\">{}</tspan>", key.name.empty() ? "" : ": ", escape_html(key.note));
  if (!key.warning.empty()) text += fmt::format(" <tspan class=\"warning\">{}</tspan>", escape_html(key.warning));
  return fmt::format("<text class=\"label\" x=\"{}\" y=\"{}\">{}</text>\n", px(x), px(y), text);
}

// The entry with a name that leaves room for the rest, and how wide all of it is.
std::pair<Key, double> fitted(Key key, double most) {
  const double rest = text_width(key.note.empty() ? "" : ": " + key.note, kFont * kBold) +
                      text_width(key.warning.empty() ? "" : " " + key.warning, kFont);
  key.name = shortened(key.name, kFont, std::max(most - rest, 60.0));
  return {key, text_width(key.name, kFont) + rest};
}

void add_legend(Sheet& sheet, const std::vector<Key>& keys) {
  if (keys.empty()) return;
  const double most = sheet.width - 2 * kEdge - kKey;
  double x = kEdge;
  sheet.y += 4;
  for (const Key& one : keys) {
    const auto [key, width] = fitted(one, most);
    if (x > kEdge && x + kKey + width > sheet.width - kEdge) {
      x = kEdge;
      sheet.y += kTextLine;
    }
    sheet.elements += fmt::format("<g transform=\"translate({} {})\">{}</g>\n", px(x), px(sheet.y + 2), key.mark) +
                      key_text(key, x + kKey, sheet.y + 11);
    x += kKey + width + kKeyGap;
  }
  sheet.y += kTextLine;
}

}  // namespace

void add_head(Sheet& sheet, const std::string& title, const std::vector<Key>& keys, const std::string& value_title) {
  sheet.y = kEdge;
  add_title(sheet, title);
  add_legend(sheet, keys);
  if (!value_title.empty()) {
    sheet.elements += cut_text_at(kEdge, sheet.y + kFont, "note", value_title, sheet.width - 2 * kEdge);
    sheet.y += kTextLine;
  }
  sheet.y += 6;
}

std::string line_key(std::string_view style) {
  return fmt::format("<path class=\"{}\" d=\"M1 5H19\"/>", style);
}
std::string bar_key(std::string_view style) {
  return fmt::format("<rect class=\"{}\" x=\"2\" y=\"0\" width=\"16\" height=\"10\"/>", style);
}
std::string dot_key(std::string_view style) {
  return fmt::format("<circle class=\"{}\" cx=\"10\" cy=\"5\" r=\"4\"/>", style);
}
std::string target_key() {
  return "<path class=\"target\" d=\"M10 -1V11\"/>";
}

std::string axis_title(const Axis& axis, const Scale& scale) {
  if (!scale.is_logarithmic) return axis.title;
  return axis.title.empty() ? "logarithmic" : axis.title + ", logarithmic";
}

double label_width(const Scale& scale, int count) {
  double most = 0;
  for (const std::string& label : tick_labels(scale.ticks(count))) most = std::max(most, text_width(label, kFont));
  return most;
}

std::string value_axis(const Scale& scale, int count, double from, double to) {
  const std::vector<double> ticks = scale.ticks(count);
  const std::vector<std::string> labels = tick_labels(ticks);
  std::string svg;
  double last = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < ticks.size(); ++i) {
    const double y = scale.place(ticks[i]);
    svg += line_at(from, y, to, y, "grid");
    if (std::abs(last - y) < kFont) continue;
    svg += text_at(from - kTickGap, y + kHalfText, "end", labels[i]);
    last = y;
  }
  return svg;
}

std::string base_axis(const Scale& scale, const Axis& axis, double from, double to, double width, bool has_grid) {
  const int count = std::max(2, static_cast<int>((scale.end - scale.begin) / kTickRoom));
  std::vector<double> ticks = scale.ticks(count);
  if (axis.is_whole) std::erase_if(ticks, [](double tick) { return tick != std::floor(tick); });
  const std::vector<std::string> labels = tick_labels(ticks);
  std::string svg;
  double free = 0;  // where the last label ends
  for (size_t i = 0; i < ticks.size(); ++i) {
    const double x = scale.place(ticks[i]), half = text_width(labels[i], kFont) / 2;
    svg += has_grid ? line_at(x, from, x, to, "grid") : line_at(x, to, x, to + kTick, "axis");
    const double middle = std::clamp(x, half + 2, std::max(half + 2, width - half - 2));
    if (middle - half < free) continue;
    svg += text_at(middle, to + kTextLine, "middle", labels[i]);
    free = middle + half + kTickLabelGap;
  }
  svg += line_at(scale.begin, to, scale.end, to, "axis");
  const std::string title = axis_title(axis, scale);
  if (title.empty()) return svg;
  const std::string cut = shortened(title, kFont, width - 2 * kEdge);
  const double half = text_width(cut, kFont) / 2, middle = (scale.begin + scale.end) / 2;
  return svg + text_at(std::clamp(middle, half + 2, std::max(half + 2, width - half - 2)), to + 2 * kTextLine - 2,
                       "middle", cut);
}

double base_axis_height(const Axis& axis, const Scale& scale) {
  return axis_title(axis, scale).empty() ? kTextLine + 4 : 2 * kTextLine + 2;
}

Picture finished(Sheet sheet, std::string title) {
  return {.width = sheet.width,
          .height = std::ceil(sheet.y + kEdge),
          .title = std::move(title),
          .elements = std::move(sheet.elements)};
}

}  // namespace deberta::chart
