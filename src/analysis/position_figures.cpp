// Data of relative positions as lines, objects, arrays and charts.
// L tokens  R rows of the relative table
#include "analysis/position_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "analysis/head_number.h"

namespace deberta {
namespace {

constexpr int64_t kFarthest = 2048;  // distances below it are looked up to find those of a row

struct Distances {
  int32_t first = 0, last = 0;
};
using RowDistances = std::vector<std::optional<Distances>>;  // by row; none: no distance has it

RowDistances distances_of_rows(const ModelConfig& config, DistanceRule rule) {
  RowDistances all(static_cast<size_t>(2 * config.span()));
  auto distance = static_cast<int32_t>(1 - kFarthest);
  for (const int32_t row : relative_position_rows(config, kFarthest, rule)) {
    std::optional<Distances>& of_row = all[static_cast<size_t>(row)];
    of_row = {of_row ? of_row->first : distance, distance};
    ++distance;
  }
  return all;
}

std::string signed_text(int64_t value) {
  return value > 0 ? fmt::format("+{}", value) : std::to_string(value);
}

// Those of the farthest rows have no end.
std::string text_of(const Distances& distances) {
  if (distances.first == distances.last) return signed_text(distances.first);
  if (distances.last == kFarthest - 1) return fmt::format("{} and more", signed_text(distances.first));
  if (distances.first == 1 - kFarthest) return fmt::format("{} and less", signed_text(distances.last));
  return fmt::format("{} to {}", signed_text(distances.first), signed_text(distances.last));
}

JsonArray distances_json(const RowDistances& all) {
  JsonArray rows;
  for (const std::optional<Distances>& distances : all)
    rows.push_back(distances ? Json(JsonArray{int64_t{distances->first}, int64_t{distances->last}}) : Json());
  return rows;
}

// ---- the index matrix

struct Index {
  int64_t length = 0, span = 0;
  std::vector<int32_t> row_LL;

  int32_t distance(size_t at) const {
    return static_cast<int32_t>(static_cast<int64_t>(at) / length - static_cast<int64_t>(at) % length);
  }
};

std::vector<FigureLine> lines_of(const Index& index) {
  std::vector<FigureLine> lines;
  for (size_t at = 0; at < index.row_LL.size(); ++at)
    lines.push_back({static_cast<int64_t>(at) / index.length, static_cast<int64_t>(at) % index.length,
                     int64_t{index.distance(at)}, int64_t{index.row_LL[at]}});
  return lines;
}

template <class Value>
JsonArray matrix_json(int64_t length, const Value& value) {
  JsonArray rows;
  for (int64_t query = 0; query < length; ++query) {
    JsonArray row;
    for (int64_t key = 0; key < length; ++key) row.push_back(int64_t{value(static_cast<size_t>(query * length + key))});
    rows.push_back(std::move(row));
  }
  return rows;
}

JsonObject object_of(const Index& index) {
  return {{"length", index.length},
          {"rows", 2 * index.span},
          {"distance", matrix_json(index.length, [&](size_t at) { return index.distance(at); })},
          {"row", matrix_json(index.length, [&](size_t at) { return index.row_LL[at]; })}};
}

std::vector<FigureArray> arrays_of(const Index& index) {
  const Shape shape{index.length, index.length};
  std::vector<int32_t> distances;
  for (size_t at = 0; at < index.row_LL.size(); ++at) distances.push_back(index.distance(at));
  return {{.name = "distance", .shape = shape, .integers = std::move(distances)},
          {.name = "row", .shape = shape, .integers = index.row_LL}};
}

chart::HeatMap index_map(const Index& index) {
  chart::HeatMap map{.x_title = "key", .y_title = "query", .columns = {}, .rows = {}, .values = {}, .digits = 4};
  for (int64_t token = 0; token < index.length; ++token) map.columns.push_back(std::to_string(token));
  map.rows = map.columns;
  map.width = std::clamp(150 + 40.0 * static_cast<double>(index.length), 300.0, 620.0);
  return map;
}

chart::Picture picture_of(const Index& index) {
  chart::HeatMap distances = index_map(index), rows = index_map(index);
  distances.title = "distance: query - key";
  distances.ramp = chart::Ramp::kDiverging;
  rows.title = fmt::format("row of the relative table, which has {}", 2 * index.span);
  rows.begins_at_least = true;
  for (size_t at = 0; at < index.row_LL.size(); ++at) {
    distances.values.push_back(index.distance(at));
    rows.values.push_back(index.row_LL[at]);
  }
  return chart::arranged({chart::draw(distances), chart::draw(rows)}, 2);
}

// ---- buckets

struct Buckets {
  int64_t length = 0, span = 0;
  std::vector<int32_t> rows;  // by distance, from 1 - length

  int64_t distance(size_t at) const { return static_cast<int64_t>(at) + 1 - length; }
  int64_t bucket(size_t at) const { return rows[at] - span; }
  int64_t linear(size_t at) const { return std::clamp(distance(at), -span, span - 1); }
};

std::vector<FigureLine> lines_of(const Buckets& buckets) {
  std::vector<FigureLine> lines;
  for (size_t at = 0; at < buckets.rows.size(); ++at)
    lines.push_back({buckets.distance(at), int64_t{buckets.rows[at]}, buckets.bucket(at), buckets.linear(at)});
  return lines;
}

std::vector<FigureArray> arrays_of(const Buckets& buckets) {
  const Shape shape{static_cast<int64_t>(buckets.rows.size())};
  std::vector<FigureArray> arrays;
  for (const std::string_view name : bucket_columns()) arrays.push_back({.name = std::string(name), .shape = shape});
  for (const FigureLine& line : lines_of(buckets)) {
    for (size_t column = 0; column < line.size(); ++column)
      arrays[column].integers.push_back(static_cast<int32_t>(std::get<int64_t>(line[column])));
  }
  return arrays;
}

JsonObject object_of(const Buckets& buckets) {
  JsonObject object{{"rows", 2 * buckets.span}};
  for (const FigureArray& array : arrays_of(buckets))
    object.emplace_back(array.name, JsonArray(array.integers.begin(), array.integers.end()));
  return object;
}

chart::Picture picture_of(const Buckets& buckets) {
  chart::LineChart chart{.title = fmt::format("the bucket of each distance: {} rows", 2 * buckets.span),
                         .x = {.title = "distance: query - key", .is_whole = true},
                         .y = {.title = "bucket: row - span"},
                         .lines = {{.name = "bucket", .points = {}}, {.name = "distance itself, cut", .points = {}}}};
  for (size_t at = 0; at < buckets.rows.size(); ++at) {
    const auto x = static_cast<double>(buckets.distance(at));
    chart.lines[0].points.push_back({x, static_cast<double>(buckets.bucket(at))});
    chart.lines[1].points.push_back({x, static_cast<double>(buckets.linear(at))});
  }
  return chart::draw(chart);
}

// ---- cosines

struct Cosines {
  std::string of;  // what the vectors are
  PositionChoice choice;
  int64_t span = 0;
  RowDistances distances;
  std::vector<float> cosine_RR;

  size_t rows() const { return distances.size(); }
  float at(size_t row, size_t other) const { return cosine_RR[row * rows() + other]; }
  // Rows that some distance has.
  std::vector<size_t> reached() const {
    std::vector<size_t> all;
    for (size_t row = 0; row < rows(); ++row) {
      if (distances[row]) all.push_back(row);
    }
    return all;
  }
};

std::string place_text(const PositionChoice& choice) {
  return fmt::format("layer {}, {}", choice.layer,
                     choice.head ? fmt::format("head {}", head_number(*choice.head)) : std::string("all heads"));
}

std::string vectors_text(const PositionChoice& choice) {
  switch (choice.vectors) {
    case PositionVectors::kRaw:
      return "rows of the relative table";
    case PositionVectors::kNormed:
      return "rows of the relative table after its norm";
    case PositionVectors::kKeys:
      return "Kr, " + place_text(choice);
    case PositionVectors::kQueries:
      return "Qr, " + place_text(choice);
  }
  return "";
}

std::vector<FigureLine> lines_of(const Cosines& cosines) {
  std::vector<FigureLine> lines;
  for (size_t row = 0; row < cosines.rows(); ++row) {
    for (size_t other = 0; other < cosines.rows(); ++other)
      lines.push_back({static_cast<int64_t>(row), static_cast<int64_t>(other), cosines.at(row, other)});
  }
  return lines;
}

JsonObject object_of(const Cosines& cosines) {
  JsonArray matrix;
  for (size_t row = 0; row < cosines.rows(); ++row) {
    JsonArray values;
    for (size_t other = 0; other < cosines.rows(); ++other) values.push_back(cosines.at(row, other));
    matrix.push_back(std::move(values));
  }
  return {{"of", cosines.of}, {"distances", distances_json(cosines.distances)}, {"cosine", std::move(matrix)}};
}

std::vector<FigureArray> arrays_of(const Cosines& cosines) {
  const auto rows = static_cast<int64_t>(cosines.rows());
  return {{.name = "cosine", .shape = {rows, rows}, .values = cosines.cosine_RR}};
}

// Few enough rows for a map: every nth.
chart::HeatMap cosine_map(const Cosines& cosines) {
  constexpr size_t kMostRows = 160;
  const std::vector<size_t> reached = cosines.reached();
  const size_t step = (reached.size() + kMostRows - 1) / kMostRows;
  std::vector<size_t> shown;
  for (size_t i = 0; i < reached.size(); i += step) shown.push_back(reached[i]);
  chart::HeatMap map{.title = fmt::format("cosine of {}{}", cosines.of,
                                          step > 1 ? fmt::format(" (every {} rows)", step) : std::string()),
                     .x_title = "distance of the row",
                     .columns = {},
                     .rows = {},
                     .values = {},
                     .ramp = chart::Ramp::kDiverging,
                     .most = 1};
  for (const size_t row : shown) {
    map.rows.push_back(text_of(*cosines.distances[row]));
    for (const size_t other : shown) map.values.push_back(cosines.at(row, other));
  }
  map.columns = map.rows;
  return map;
}

chart::LineChart cosine_lines(const Cosines& cosines) {
  chart::LineChart chart{.title = "cosine of single rows with all others",
                         .x = {.title = "row - span", .is_whole = true},
                         .y = {.title = "cosine"},
                         .lines = {}};
  for (const int64_t distance : {0, 2, 16, 64}) {
    const auto row = static_cast<size_t>(distance + cosines.span);
    if (row >= cosines.rows() || !cosines.distances[row]) continue;
    chart::Line& line =
        chart.lines.emplace_back(chart::Line{.name = "distance " + text_of(*cosines.distances[row]), .points = {}});
    for (const size_t other : cosines.reached())
      line.points.push_back({static_cast<double>(static_cast<int64_t>(other) - cosines.span), cosines.at(row, other)});
  }
  return chart;
}

chart::Picture picture_of(const Cosines& cosines) {
  return chart::arranged({chart::draw(cosine_map(cosines)), chart::draw(cosine_lines(cosines))}, 1);
}

// ---- one query

struct QueryScores {
  std::string word;
  PositionChoice choice;
  int64_t span = 0;
  RowDistances distances;
  std::vector<float> scores_R;
};

std::vector<FigureLine> lines_of(const QueryScores& query) {
  std::vector<FigureLine> lines;
  for (size_t row = 0; row < query.scores_R.size(); ++row) {
    const std::optional<Distances>& distances = query.distances[row];
    const auto value = [&](int32_t Distances::*end) {
      return distances ? FigureValue(int64_t{(*distances).*end}) : FigureValue();
    };
    lines.push_back(
        {static_cast<int64_t>(row), value(&Distances::first), value(&Distances::last), query.scores_R[row]});
  }
  return lines;
}

JsonObject object_of(const QueryScores& query) {
  JsonArray scores(query.scores_R.begin(), query.scores_R.end());
  return {{"query", query.word},
          {"layer", int64_t{query.choice.layer}},
          {"head", query.choice.head ? Json(head_number(*query.choice.head)) : Json()},
          {"distances", distances_json(query.distances)},
          {"score", std::move(scores)}};
}

std::vector<FigureArray> arrays_of(const QueryScores& query) {
  return {{.name = "score", .shape = {static_cast<int64_t>(query.scores_R.size())}, .values = query.scores_R}};
}

chart::Picture picture_of(const QueryScores& query) {
  chart::LineChart chart{.title = fmt::format("the query of \"{}\" and every row of the relative table, {}", query.word,
                                              place_text(query.choice)),
                         .x = {.title = "row - span", .is_whole = true},
                         .y = {.title = "q . Kr, scaled"},
                         .lines = {{.name = {}, .points = {}}}};
  for (size_t row = 0; row < query.scores_R.size(); ++row) {
    if (query.distances[row])
      chart.lines[0].points.push_back(
          {static_cast<double>(static_cast<int64_t>(row) - query.span), query.scores_R[row]});
  }
  return chart::draw(chart);
}

}  // namespace

FigureColumns index_columns() {
  return {"query", "key", "distance", "row"};
}
FigureColumns bucket_columns() {
  return {"distance", "row", "bucket", "linear"};
}
FigureColumns cosine_columns() {
  return {"row", "other", "cosine"};
}
FigureColumns query_columns() {
  return {"table_row", "first", "last", "score"};
}

Figure index_figure(const ModelConfig& config, int64_t length, DistanceRule rule) {
  return figure_of(Index{length, config.span(), relative_index(config, length, rule)});
}

Figure bucket_figure(const ModelConfig& config, int64_t length, DistanceRule rule) {
  return figure_of(Buckets{length, config.span(), relative_position_rows(config, length, rule)});
}

Figure cosine_figure(const Checkpoint& checkpoint, const ModelConfig& config, const PositionChoice& choice,
                     DistanceRule rule) {
  return figure_of(Cosines{vectors_text(choice), choice, config.span(), distances_of_rows(config, rule),
                           cosines(position_vectors(checkpoint, config, choice))});
}

Figure query_figure(const ModelConfig& config, std::vector<float> scores_R, const std::string& word,
                    const PositionChoice& choice, DistanceRule rule) {
  return figure_of(QueryScores{word, choice, config.span(), distances_of_rows(config, rule), std::move(scores_R)});
}

}  // namespace deberta
