// Pictures side by side, as files and as figures of a page, and the style sheet of their elements.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "chart/chart.h"
#include "chart/svg.h"
#include "chart/text.h"

namespace deberta::chart {
namespace {

// What is the same in light and dark.
constexpr std::string_view kShapes = R"css(
.chart{font:13px/1 system-ui,"DejaVu Sans",sans-serif}
.chart .title{font-size:15px;font-weight:600}
.chart .strong{font-weight:600}
.chart .number{font-size:11px}
.chart .middle{text-anchor:middle}
.chart .end{text-anchor:end}
.chart .cells{shape-rendering:crispEdges}
.chart .division{stroke-width:1.2;stroke-dasharray:3 3}
.chart .bad{fill:none;stroke-width:2}
.chart .line{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round;stroke-linecap:round}
.chart .dashed{stroke-dasharray:7 4}
.chart .dot,.chart .bar{fill:currentColor}
.chart .short,.chart .box{fill:currentColor;fill-opacity:.25;stroke:currentColor}
.chart .median{stroke:currentColor;stroke-width:2.5}
.chart .target{stroke-width:2}
.chart .target-ground{stroke-width:5}
.chart .arrow{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}
)css";

std::string_view colour_of(std::string_view name, Scheme scheme) {
  const auto found = std::ranges::find(palette(), name, &Colour::name);
  return scheme == Scheme::kLight ? found->light : found->dark;
}

std::string colour_rules(Scheme scheme) {
  const auto of = [&](std::string_view name) { return colour_of(name, scheme); };
  std::string css = fmt::format(
      ".chart text{{fill:{0}}}.chart .label,.chart .title,.chart .strong{{fill:{1}}}.chart .warning{{fill:{2}}}"
      ".chart .paper{{fill:{3}}}.chart .grid{{stroke:{4}}}.chart .axis,.chart .division,.chart .arrow{{stroke:{0}}}"
      ".chart .target{{stroke:{1}}}.chart .target-ground{{stroke:{3}}}.chart .bad{{stroke:{2}}}",
      of("faint"), of("ink"), of("bad"), of("paper"), of("rule"));
  for (size_t i = 0; i < kSeriesColours; ++i)
    css += fmt::format(".chart .c{0}{{color:{1}}}", i, of(fmt::format("c{}", i)));
  return css;
}

std::string rules_of(const Picture& picture) {
  return fmt::format("{}", fmt::join(picture.rules, "\n"));
}

}  // namespace

Picture arranged(const std::vector<Picture>& pictures, size_t columns) {
  constexpr double kBetween = 12;
  Picture whole;
  for (size_t begin = 0; begin < pictures.size(); begin += columns) {
    double x = 0, height = 0;
    const size_t end = std::min(begin + columns, pictures.size());
    for (size_t i = begin; i < end; ++i) {
      const Picture& one = pictures[i];
      whole.elements +=
          fmt::format("<g transform=\"translate({} {})\">\n{}</g>\n", px(x), px(whole.height), one.elements);
      whole.rules.insert(one.rules.begin(), one.rules.end());
      whole.title += (whole.title.empty() ? "" : "; ") + one.title;
      x += one.width + (i + 1 < end ? kBetween : 0);
      height = std::max(height, one.height);
    }
    whole.width = std::max(whole.width, x);
    whole.height += height + (end < pictures.size() ? kBetween : 0);
  }
  return whole;
}

std::string svg_file(const Picture& picture) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"chart\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "role=\"img\" aria-label=\"{2}\">\n<style>{3}{4}</style>\n{5}{6}</svg>\n",
      px(picture.width), px(picture.height), escape_html(picture.title), chart_style(), rules_of(picture),
      rectangle(0, 0, picture.width, picture.height, "paper"), picture.elements);
}

std::string svg_figure(const Picture& picture) {
  const std::string rules = rules_of(picture);
  return fmt::format(
      "<figure>\n<svg class=\"chart\" viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n{}{}</svg>\n</figure>\n",
      px(picture.width), px(picture.height), escape_html(picture.title),
      rules.empty() ? "" : fmt::format("<style>{}</style>\n", rules), picture.elements);
}

std::string chart_style() {
  return fmt::format("{}{}\n@media (prefers-color-scheme:dark){{{}}}\n", kShapes, colour_rules(Scheme::kLight),
                     colour_rules(Scheme::kDark));
}

}  // namespace deberta::chart
