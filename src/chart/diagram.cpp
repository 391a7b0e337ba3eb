// Diagrams: boxes with a text in their middle, and arrows.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "chart/chart.h"
#include "chart/frame.h"
#include "chart/svg.h"

namespace deberta::chart {
namespace {

constexpr double kCorner = 5, kTip = 8;   // of a box; of an arrow
constexpr double kLeastSheetWidth = 200;  // for the title and the legend

bool is_laid_out(const Block& block) {
  return is_shown(block.x) && is_shown(block.y) && block.x >= 0 && block.y >= 0 && block.width > 0 &&
         block.height > 0 && is_shown(block.width) && is_shown(block.height);
}

std::string draw_block(const Block& block, double left, double top) {
  const double x = left + block.x, y = top + block.y;
  std::string svg;
  if (block.group)
    svg = fmt::format("<rect class=\"box {}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>\n",
                      series_style(*block.group), px(x), px(y), px(block.width), px(block.height), px(kCorner));
  return svg + cut_text_at(x + block.width / 2, y + block.height / 2 + 4.5,
                           block.group ? "label middle" : "note middle", block.text, block.width - 2);
}

// A line along the points, with a tip at the last.
std::string draw_arrow(const std::vector<Point>& points, double left, double top) {
  if (points.size() < 2 || !std::ranges::all_of(points, [](Point p) { return is_shown(p.x) && is_shown(p.y); }))
    return "";
  std::string path;
  for (const Point& point : points)
    path += fmt::format("{}{} {}", path.empty() ? 'M' : 'L', px(left + point.x), px(top + point.y));
  const Point from = points[points.size() - 2], to = points.back();
  const double angle = std::atan2(to.y - from.y, to.x - from.x);
  for (const double side : {-0.5, 0.5}) {
    const double x = to.x - kTip * std::cos(angle + side), y = to.y - kTip * std::sin(angle + side);
    path += fmt::format("M{} {}L{} {}", px(left + to.x), px(top + to.y), px(left + x), px(top + y));
  }
  return fmt::format("<path class=\"arrow\" d=\"{}\"/>\n", path);
}

}  // namespace

Picture draw(const Diagram& chart) {
  double width = 0, height = 0;
  for (const Block& block : chart.blocks) {
    if (!is_laid_out(block)) continue;
    width = std::max(width, block.x + block.width);
    height = std::max(height, block.y + block.height);
  }
  for (const std::vector<Point>& arrow : chart.arrows) {
    for (const Point& point : arrow) {
      if (is_shown(point.x)) width = std::max(width, point.x);
      if (is_shown(point.y)) height = std::max(height, point.y);
    }
  }
  Sheet sheet{.width = std::max(std::ceil(width) + 2 * kEdge, kLeastSheetWidth)};
  std::vector<Key> keys;
  for (size_t i = 0; i < chart.groups.size(); ++i)
    keys.push_back({.mark = bar_key("box " + series_style(i)), .name = chart.groups[i]});
  add_head(sheet, chart.title, keys, "");
  for (const Block& block : chart.blocks) {
    if (is_laid_out(block)) sheet.elements += draw_block(block, kEdge, sheet.y);
  }
  for (const std::vector<Point>& arrow : chart.arrows) sheet.elements += draw_arrow(arrow, kEdge, sheet.y);
  sheet.y += height;
  return finished(std::move(sheet), chart.title);
}

}  // namespace deberta::chart
