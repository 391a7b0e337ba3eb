// Cosines between the rows of whole tables, a block of rows at a time.
// D hidden
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>
#include <span>
#include <utility>

#include "analysis/layer_tensors.h"
#include "deberta/analysis.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr size_t kMostRows = 16384;

// Directions of the rows, and how long they were.
struct Table {
  std::string name;
  VectorRows unit;
  double norm = 0;
};

std::span<const float> row_of(const VectorRows& rows, size_t row) {
  return std::span(rows.values).subspan(row * rows.columns, rows.columns);
}

// Every nth of the rows that are not zero.
Table table_of(std::string name, const VectorRows& rows) {
  Table table{std::move(name), {0, rows.columns, {}}, 0};
  const size_t step = (rows.rows + kMostRows - 1) / kMostRows;
  for (size_t row = 0; row < rows.rows; row += step) {
    const std::span<const float> values = row_of(rows, row);
    const double length = std::sqrt(std::inner_product(values.begin(), values.end(), values.begin(), 0.0));
    if (length == 0) continue;
    for (const float value : values) table.unit.values.push_back(static_cast<float>(value / length));
    ++table.unit.rows;
    table.norm += length;
  }
  if (table.unit.rows > 0) table.norm /= static_cast<double>(table.unit.rows);
  return table;
}

// The rows that distances have; the others were never trained.
VectorRows reached_rows(const VectorRows& table, const ModelConfig& config) {
  const std::vector<int32_t> of_distances = relative_position_rows(config, config.max_relative_positions);
  VectorRows reached{0, table.columns, {}};
  for (const int32_t row : std::set<int32_t>(of_distances.begin(), of_distances.end())) {
    const std::span<const float> values = row_of(table, static_cast<size_t>(row));
    reached.values.insert(reached.values.end(), values.begin(), values.end());
    ++reached.rows;
  }
  return reached;
}

VectorRows rows_of(const Checkpoint& checkpoint, const std::string& name, int64_t rows, int64_t columns) {
  return {static_cast<size_t>(rows), static_cast<size_t>(columns), tensor_values(checkpoint, name, {rows, columns})};
}

std::vector<Table> tables_of(const Checkpoint& checkpoint, const ModelConfig& config) {
  constexpr const char* kPositions = "embeddings.position_embeddings.weight";
  std::vector<Table> tables{table_of(
      "word", rows_of(checkpoint, "embeddings.word_embeddings.weight", config.vocab_size, config.embedding_size))};
  if (checkpoint.find(kPositions) != nullptr)
    tables.push_back(
        table_of("absolute", rows_of(checkpoint, kPositions, config.max_position_embeddings, config.embedding_size)));
  if (!config.relative_attention) return tables;
  tables.push_back(table_of("relative", reached_rows(relative_table(checkpoint, config, false), config)));
  if (config.has_rel_layer_norm)
    tables.push_back(table_of("relative_normed", reached_rows(relative_table(checkpoint, config, true), config)));
  return tables;
}

TableAngles angles_of(const Table& first, const Table& second) {
  constexpr size_t kRowsAtOnce = 512;
  TableAngles angles{.first = first.name,
                     .second = second.name,
                     .first_rows = first.unit.rows,
                     .second_rows = second.unit.rows,
                     .random = std::sqrt(2 / (std::numbers::pi * static_cast<double>(first.unit.columns))),
                     .first_norm = first.norm,
                     .second_norm = second.norm};
  const LinearWeights weights{second.unit.values, {}};
  double sum = 0;
  for (size_t begin = 0; begin < first.unit.rows; begin += kRowsAtOnce) {
    const size_t rows = std::min(kRowsAtOnce, first.unit.rows - begin);
    const auto values = std::span(first.unit.values).subspan(begin * first.unit.columns, rows * first.unit.columns);
    const VectorRows block{rows, first.unit.columns, {values.begin(), values.end()}};
    for (const float cosine : project(block, weights).values) {
      sum += std::abs(cosine);
      angles.largest_cosine = std::max(angles.largest_cosine, std::abs(double{cosine}));
    }
  }
  const double pairs = static_cast<double>(first.unit.rows) * static_cast<double>(second.unit.rows);
  angles.mean_cosine = pairs > 0 ? sum / pairs : 0;
  return angles;
}

bool is_relative(const Table& table) {
  return table.name.starts_with("relative");
}

}  // namespace

std::vector<TableAngles> table_angles(const Checkpoint& checkpoint, const ModelConfig& config) {
  const std::vector<Table> tables = tables_of(checkpoint, config);
  std::vector<TableAngles> all;
  for (size_t first = 0; first < tables.size(); ++first) {
    for (size_t second = first + 1; second < tables.size(); ++second) {
      const bool is_one_table = is_relative(tables[first]) && is_relative(tables[second]);
      const bool fits = tables[first].unit.columns == tables[second].unit.columns;
      if (fits && !is_one_table && tables[first].unit.rows > 0 && tables[second].unit.rows > 0)
        all.push_back(angles_of(tables[first], tables[second]));
    }
  }
  if (all.empty())
    throw Error(ErrorCode::kInput, "tables",
                "expected vectors of positions as wide as those of words, absolute or relative, got none");
  return all;
}

}  // namespace deberta
