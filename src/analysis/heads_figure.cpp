// A column of the lines is an array, and a map in the picture.
// N layers  H heads
#include "analysis/heads_figure.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>

#include "analysis/explanation.h"
#include "analysis/head_number.h"

namespace deberta {
namespace {

struct Column {
  std::string_view name;
  std::string_view title;
  double HeadFigures::*value;
};
constexpr std::array kColumns = {
    Column{"entropy", "entropy of the weights, in nats", &HeadFigures::entropy},
    Column{"distance", "mean distance of query and key", &HeadFigures::distance},
    Column{"cls", "weight on the first token", &HeadFigures::first},
    Column{"c2c", "share of content to content", &HeadFigures::c2c},
    Column{"c2p", "share of content to position", &HeadFigures::c2p},
    Column{"p2c", "share of position to content", &HeadFigures::p2c},
};

// In order of layers and heads.
struct Heads {
  std::vector<HeadFigures> all;

  size_t per_layer() const {
    size_t heads = 0;
    while (heads < all.size() && all[heads].layer == all.front().layer) ++heads;
    return heads;
  }
};

std::vector<FigureLine> lines_of(const Heads& heads) {
  std::vector<FigureLine> lines;
  for (const HeadFigures& head : heads.all) {
    FigureLine& line = lines.emplace_back(FigureLine{int64_t{head.layer}, head_number(head.head)});
    for (const Column& column : kColumns) line.emplace_back(head.*column.value);
  }
  return lines;
}

JsonObject object_of(const Heads& heads) {
  return {{"heads", heads_json(heads.all)}};
}

std::vector<FigureArray> arrays_of(const Heads& heads) {
  const size_t per_layer = heads.per_layer();
  const auto layers = static_cast<int64_t>(per_layer == 0 ? 0 : heads.all.size() / per_layer);
  std::vector<FigureArray> arrays;
  for (const Column& column : kColumns) {
    FigureArray& array = arrays.emplace_back(
        FigureArray{.name = std::string(column.name), .shape = {layers, static_cast<int64_t>(per_layer)}});
    for (const HeadFigures& head : heads.all) array.values.push_back(static_cast<float>(head.*column.value));
  }
  return arrays;
}

chart::Picture picture_of(const Heads& heads) {
  std::vector<chart::Picture> maps;
  for (const Column& column : kColumns) {
    chart::HeatMap map{.title = std::string(column.title),
                       .x_title = "head",
                       .y_title = "layer",
                       .columns = {},
                       .rows = {},
                       .values = {},
                       .width = 400};
    for (const HeadFigures& head : heads.all) {
      map.values.push_back(head.*column.value);
      if (head.head == 0) map.rows.push_back(std::to_string(head.layer));
      if (head.layer == heads.all.front().layer) map.columns.push_back(std::to_string(head_number(head.head)));
    }
    maps.push_back(chart::draw(map));
  }
  chart::Picture picture = chart::arranged(maps, 3);
  picture.title = "what each head does with the text";
  return picture;
}

}  // namespace

FigureColumns heads_columns() {
  FigureColumns columns{"layer", "head"};
  for (const Column& column : kColumns) columns.push_back(column.name);
  return columns;
}

Figure heads_figure(std::vector<HeadFigures> heads) {
  return figure_of(Heads{std::move(heads)});
}

}  // namespace deberta
