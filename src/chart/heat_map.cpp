// Heat maps: cells in 65 levels of a ramp, with their numbers where these fit, and a bar that says what colours are.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "chart/chart.h"
#include "chart/frame.h"
#include "chart/svg.h"
#include "chart/text.h"

namespace deberta::chart {
namespace {

constexpr int kLevels = 65;  // odd: 0 of a diverging ramp has the middle one
constexpr double kLeastCell = 2, kMostCell = 48;
constexpr size_t kMostSingle = 1024;       // cells with an element and a text for the pointer each
constexpr double kMostLabel = 130;         // of a row or a column
constexpr double kBar = 14, kBarGap = 16;  // the bar of colours
constexpr double kCellGap = 6;
constexpr double kNumberFont = 11;  // of the number on a cell

// From values to levels.
struct Levels {
  Ramp ramp;
  double low, high;

  int level(double value) const {
    const double share = (value - low) / (high - low);
    return static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * (kLevels - 1)));
  }
};

double least_of(const std::vector<double>& values) {
  Range range;
  for (const double value : values) {
    if (is_shown(value)) range.add(value);
  }
  return range.is_empty() ? 0 : range.low;
}

Levels levels_of(const HeatMap& map) {
  double low = 0, high = 0;
  for (const double value : map.values) {
    if (is_shown(value)) low = std::min(low, value), high = std::max(high, value);
  }
  if (is_shown(map.most.value_or(kMissing))) high = std::max(high, *map.most);
  if (map.ramp == Ramp::kDiverging) high = std::max(high, -low), low = -high;
  if (map.begins_at_least && map.ramp == Ramp::kSequential) low = least_of(map.values);
  if (high == low) high = low + 1, low = map.ramp == Ramp::kDiverging ? -1 : low;
  return {map.ramp, low, high};
}

char letter(Ramp ramp) {
  return ramp == Ramp::kSequential ? 's' : 'd';
}

std::string level_style(Ramp ramp, int level) {
  return fmt::format("{}{}", letter(ramp), level);
}

// Black or white, whichever reads better on the colour: one of them has at least 4.5.
const char* ink_on(Rgb colour) {
  constexpr Rgb kBlack{0, 0, 0}, kWhite{255, 255, 255};
  return contrast(colour, kBlack) >= contrast(colour, kWhite) ? "#000" : "#fff";
}

std::string level_rules(Ramp ramp, Scheme scheme) {
  std::string css;
  for (int level = 0; level < kLevels; ++level) {
    const Rgb colour = colour_at(ramp, scheme, static_cast<double>(level) / (kLevels - 1));
    css += fmt::format(".chart .{0}{{fill:{1}}}.chart .on-{0}{{fill:{2}}}", level_style(ramp, level), to_string(colour),
                       ink_on(colour));
  }
  return css;
}

// The colours of all levels, and of texts on them.
std::string ramp_rules(Ramp ramp) {
  const std::string light = level_rules(ramp, Scheme::kLight), dark = level_rules(ramp, Scheme::kDark);
  return light == dark ? light : fmt::format("{}@media (prefers-color-scheme:dark){{{}}}", light, dark);
}

// Where the cells are.
struct Grid {
  double left = 0, top = 0, cell = 0;
  size_t rows = 0, columns = 0;
  bool has_upright_labels = false;  // columns' labels do not fit side by side

  double x(size_t column) const { return left + cell * static_cast<double>(column); }
  double y(size_t row) const { return top + cell * static_cast<double>(row); }
  // Every so many rows or columns have a label, so that neighbours do not touch: 1, 2, 5, 10, 20, ...
  size_t label_step() const {
    size_t power = 1;
    while (true) {
      for (const size_t times : {size_t{1}, size_t{2}, size_t{5}}) {
        if (static_cast<double>(times * power) * cell > kFont) return times * power;
      }
      power *= 10;
    }
  }
};

double widest(const std::vector<std::string>& labels) {
  double most = 0;
  for (const std::string& label : labels) most = std::max(most, text_width(label, kFont));
  return std::min(most, kMostLabel);
}

double bar_width(const Levels& levels) {
  const Scale scale{.range = {levels.low, levels.high}};
  return kBarGap + kBar + kCellGap + label_width(scale, 4);
}

Grid grid_of(const HeatMap& map, double top, double right) {
  Grid grid{.rows = map.rows.size(), .columns = map.columns.size()};
  const double labels_width = std::max(widest(map.rows), std::min(text_width(map.y_title, kFont), kMostLabel));
  grid.left = std::ceil(kEdge + labels_width + kCellGap);
  const double room = map.width - kEdge - right - grid.left;
  grid.cell =
      std::clamp(std::floor(room / static_cast<double>(std::max<size_t>(grid.columns, 1))), kLeastCell, kMostCell);
  const double labels = widest(map.columns);
  grid.has_upright_labels = labels > grid.cell - 4;
  grid.top = std::ceil(top + (map.x_title.empty() && map.y_title.empty() ? 0 : kTextLine) +
                       (labels == 0               ? 0
                        : grid.has_upright_labels ? labels + 8
                                                  : kTextLine));
  return grid;
}

std::string draw_labels(const HeatMap& map, const Grid& grid) {
  std::string svg;
  for (size_t row = 0; row < grid.rows; row += grid.label_step())
    svg += cut_text_at(grid.left - kCellGap, grid.y(row) + grid.cell / 2 + 4, "label end", map.rows[row], kMostLabel);
  for (size_t column = 0; column < grid.columns; column += grid.label_step()) {
    const double x = grid.x(column) + grid.cell / 2, y = grid.top - kCellGap;
    if (!grid.has_upright_labels) {
      svg += text_at(x, y, "label middle", map.columns[column]);
      continue;
    }
    svg += fmt::format("<g transform=\"translate({} {}) rotate(-90)\">{}</g>\n", px(x + 4), px(y),
                       cut_text_at(0, 0, "label", map.columns[column], kMostLabel));
  }
  return svg;
}

std::string draw_titles(const HeatMap& map, const Grid& grid, double y, double right) {
  std::string svg;
  if (!map.y_title.empty()) svg += cut_text_at(grid.left - kCellGap, y + kFont, "note end", map.y_title, kMostLabel);
  if (!map.x_title.empty()) svg += cut_text_at(grid.left, y + kFont, "note", map.x_title, right - grid.left);
  return svg;
}

std::string number_of(const HeatMap& map, double value) {
  return axis_number(value, map.digits);
}

// Whether the numbers of all cells have room on them.
bool has_numbers(const HeatMap& map, const Grid& grid) {
  if (grid.cell < kNumberFont + 4) return false;
  return std::ranges::all_of(map.values, [&](double value) {
    return !is_shown(value) || text_width(number_of(map, value), kNumberFont) <= grid.cell - 2;
  });
}

std::string single_cells(const HeatMap& map, const Grid& grid, const Levels& levels) {
  const bool is_numbered = has_numbers(map, grid);
  std::string svg;
  for (size_t row = 0; row < grid.rows; ++row) {
    for (size_t column = 0; column < grid.columns; ++column) {
      const double value = map.values[row * grid.columns + column], x = grid.x(column), y = grid.y(row);
      if (!is_shown(value)) continue;
      const std::string level = level_style(map.ramp, levels.level(value));
      svg += rectangle(x, y, grid.cell, grid.cell, level,
                       fmt::format("{}, {}: {}", map.rows[row], map.columns[column], exact_number(value)));
      if (is_numbered)
        svg += text_at(x + grid.cell / 2, y + grid.cell / 2 + 4, "number middle on-" + level, number_of(map, value));
    }
  }
  return svg;
}

// One path for all cells of a level: a few letters a cell.
std::string paths_of_levels(const HeatMap& map, const Grid& grid, const Levels& levels) {
  std::array<std::string, kLevels> paths;
  const std::string size = px(grid.cell);
  for (size_t row = 0; row < grid.rows; ++row) {
    for (size_t column = 0; column < grid.columns; ++column) {
      const double value = map.values[row * grid.columns + column];
      if (!is_shown(value)) continue;
      paths[static_cast<size_t>(levels.level(value))] +=
          fmt::format("M{} {}h{}v{}h-{}z", px(grid.x(column)), px(grid.y(row)), size, size, size);
    }
  }
  std::string svg;
  for (int level = 0; level < kLevels; ++level) {
    const std::string& path = paths[static_cast<size_t>(level)];
    if (!path.empty()) svg += fmt::format("<path class=\"{}\" d=\"{}\"/>\n", level_style(map.ramp, level), path);
  }
  return svg;
}

// A cross in each cell whose value cannot be shown.
std::string crosses(const HeatMap& map, const Grid& grid) {
  std::string path;
  for (size_t at = 0; at < map.values.size(); ++at) {
    if (is_shown(map.values[at])) continue;
    const double x = grid.x(at % grid.columns), y = grid.y(at / grid.columns), d = grid.cell / 4;
    path += fmt::format("M{} {}l{} {}m0 -{}l-{} {}", px(x + d), px(y + d), px(2 * d), px(2 * d), px(2 * d), px(2 * d),
                        px(2 * d));
  }
  return path.empty() ? "" : fmt::format("<path class=\"bad\" d=\"{}\"/>\n", path);
}

std::string draw_bar(const Levels& levels, double x, double top, double height) {
  std::string svg;
  const double step = height / kLevels;
  for (int level = 0; level < kLevels; ++level) {
    const double y = top + step * (kLevels - 1 - level);
    // Each reaches a little below the next, so that no gap shines through.
    svg += rectangle(x, y, kBar, step + (level > 0 ? 0.5 : 0), level_style(levels.ramp, level));
  }
  const Scale scale{.range = {levels.low, levels.high}, .begin = top + height, .end = top};
  const std::vector<double> ticks = scale.ticks(4);
  const std::vector<std::string> labels = tick_labels(ticks);
  for (size_t i = 0; i < ticks.size(); ++i)
    svg += text_at(x + kBar + kCellGap, std::clamp(scale.place(ticks[i]), top + 4, top + height - 4) + 4, "note",
                   labels[i]);
  return svg;
}

}  // namespace

Picture draw(const HeatMap& map) {
  Sheet sheet{.width = map.width};
  const bool is_whole = !map.values.empty() && map.values.size() == map.rows.size() * map.columns.size();
  add_head(sheet, map.title, {}, is_whole ? map.value_title : "no values");
  if (!is_whole) return finished(std::move(sheet), map.title);
  const Levels levels = levels_of(map);
  const double bar = bar_width(levels);
  const Grid grid = grid_of(map, sheet.y, bar);
  const double right = grid.x(grid.columns), bottom = grid.y(grid.rows);
  sheet.width = std::max(map.width, right + bar + kEdge);
  sheet.elements += draw_titles(map, grid, sheet.y, sheet.width - kEdge) + draw_labels(map, grid);
  sheet.elements += fmt::format("<g class=\"cells\">\n{}</g>\n", map.values.size() <= kMostSingle
                                                                     ? single_cells(map, grid, levels)
                                                                     : paths_of_levels(map, grid, levels));
  const double height = std::clamp(bottom - grid.top, 90.0, 240.0);
  sheet.elements += crosses(map, grid) + draw_bar(levels, right + kBarGap, grid.top, height);
  sheet.y = std::max(bottom, grid.top + height);
  Picture picture = finished(std::move(sheet), map.title);
  picture.rules.insert(ramp_rules(map.ramp));
  return picture;
}

}  // namespace deberta::chart
