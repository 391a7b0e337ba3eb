// Pairs of tables as lines, objects, arrays and bars beside what chance would give.
#include "analysis/table_figure.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

namespace deberta {
namespace {

struct Number {
  std::string_view name;
  double TableAngles::*value;
};
constexpr std::array kNumbers = {
    Number{"mean_cosine", &TableAngles::mean_cosine}, Number{"largest_cosine", &TableAngles::largest_cosine},
    Number{"random", &TableAngles::random},           Number{"first_norm", &TableAngles::first_norm},
    Number{"second_norm", &TableAngles::second_norm},
};

struct Angles {
  std::vector<TableAngles> all;
};

std::vector<FigureLine> lines_of(const Angles& angles) {
  std::vector<FigureLine> lines;
  for (const TableAngles& one : angles.all) {
    FigureLine& line = lines.emplace_back(
        FigureLine{one.first, one.second, static_cast<int64_t>(one.first_rows), static_cast<int64_t>(one.second_rows)});
    for (const Number& number : kNumbers) line.emplace_back(one.*number.value);
  }
  return lines;
}

JsonObject object_of(const Angles& angles) {
  JsonArray tables;
  for (const TableAngles& one : angles.all) {
    JsonObject object{{"first", one.first},
                      {"second", one.second},
                      {"first_rows", uint64_t{one.first_rows}},
                      {"second_rows", uint64_t{one.second_rows}}};
    for (const Number& number : kNumbers) object.emplace_back(std::string(number.name), one.*number.value);
    tables.emplace_back(std::move(object));
  }
  return {{"tables", std::move(tables)}};
}

std::vector<FigureArray> arrays_of(const Angles& angles) {
  std::vector<FigureArray> arrays;
  for (const Number& number : kNumbers) {
    FigureArray& array = arrays.emplace_back(
        FigureArray{.name = std::string(number.name), .shape = {static_cast<int64_t>(angles.all.size())}});
    for (const TableAngles& one : angles.all) array.values.push_back(static_cast<float>(one.*number.value));
  }
  return arrays;
}

chart::Picture picture_of(const Angles& angles) {
  chart::BarChart chart{
      .title = "angles between the tables: 0 is a right angle",
      .x_title = "mean of the absolute cosine",
      .labels = {},
      .series = {{.name = "rows of both tables", .values = {}}, {.name = "directions drawn at random", .values = {}}}};
  for (const TableAngles& one : angles.all) {
    chart.labels.push_back(fmt::format("{}, {}", one.first, one.second));
    chart.series[0].values.push_back(one.mean_cosine);
    chart.series[1].values.push_back(one.random);
  }
  return chart::draw(chart);
}

}  // namespace

FigureColumns angle_columns() {
  FigureColumns columns{"first", "second", "first_rows", "second_rows"};
  for (const Number& number : kNumbers) columns.push_back(number.name);
  return columns;
}

Figure angle_figure(std::vector<TableAngles> angles) {
  return figure_of(Angles{std::move(angles)});
}

}  // namespace deberta
