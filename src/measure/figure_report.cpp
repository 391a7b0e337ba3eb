// Collects figures as JSON objects, and prints them as JSON lines or as the columns of a table.
#include "measure/figure_report.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/checked.h"
#include "base/thread_pool.h"
#include "deberta/error.h"
#include "program/output.h"

namespace deberta::measure {
namespace {

// An object as "hf 2.858, ort 1.2".
std::string cell_of(const Json& value) {
  if (value.is_string()) return value.as_string();
  if (!value.is_object()) return value.dump();
  std::string text;
  for (const auto& [name, member] : value.as_object()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, cell_of(member));
  }
  return text;
}

}  // namespace

double rounded(double value, double parts) {
  return std::round(value * parts) / parts;
}

std::vector<int32_t> numbers(const std::string& option, const std::vector<std::string>& words, int32_t most) {
  std::vector<int32_t> values;
  for (const std::string& word : words) {
    const auto value = parse_number<int32_t>(word);
    if (!value || *value < 1 || *value > most) {
      throw Error(ErrorCode::kUsage, option, fmt::format("expected numbers in 1..{}, got \"{}\"", most, word));
    }
    values.push_back(*value);
  }
  return values;
}

std::vector<size_t> thread_counts(const std::vector<std::string>& words) {
  if (words == std::vector<std::string>{"0"}) return {usable_processors()};
  std::vector<size_t> counts;
  for (const int32_t count : numbers("--threads", words, 1024)) counts.push_back(static_cast<size_t>(count));
  return counts;
}

FigureReport::FigureReport(const OutputSettings& output, std::vector<std::string> columns)
    : output_(output), columns_(std::move(columns)) {}

void FigureReport::add(JsonObject figure) {
  if (program::format_of(output_) == Format::kJsonl) {
    program::print(Json(std::move(figure)).dump() + '\n');
    return;
  }
  const Json object(figure);
  program::Cells cells;
  for (const std::string& column : columns_) {
    const Json* value = object.find(column);
    cells.push_back(value == nullptr ? "" : cell_of(*value));
  }
  answers_.push_back({std::move(figure), {std::move(cells)}});
}

void FigureReport::print(std::initializer_list<const FigureReport*> reports) {
  std::vector<program::Answer> all;
  for (const FigureReport* report : reports) {
    if (report->answers_.empty()) continue;
    if (program::format_of(report->output_) == Format::kJson)
      all.insert(all.end(), report->answers_.begin(), report->answers_.end());
    else
      program::print_table(report->output_, report->columns_, report->answers_);
  }
  if (!all.empty()) program::print_table((*reports.begin())->output_, {}, all);
}

}  // namespace deberta::measure
