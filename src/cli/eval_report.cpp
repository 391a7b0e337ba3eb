// Output forms of one result; the averages are in eval_average.cpp.
#include "cli/eval_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/output_file.h"
#include "deberta/error.h"
#include "eval/results.h"
#include "program/note.h"
#include "program/row_loop.h"

namespace deberta::cli {
namespace {

program::Cell cell_of(std::optional<double> value) {
  return value ? program::cell(*value) : program::Cell();
}
Json json_of(std::optional<double> value) {
  return value ? Json(*value) : Json(nullptr);
}

// A rounded threshold would have other errors than those beside it.
bool keeps_digits(const Metric& metric) {
  return metric.name.starts_with("threshold@");
}

program::Cell cell_of(const Metric& metric) {
  return metric.value && keeps_digits(metric) ? program::Cell(fmt::format("{}", *metric.value)) : cell_of(metric.value);
}

struct MetricMembers {
  JsonObject metrics = {}, intervals = {}, notes = {};
};

MetricMembers members_of(const std::vector<Metric>& all, int digits) {
  MetricMembers members;
  auto& [metrics, intervals, notes] = members;
  for (const Metric& metric : all) {
    metrics.emplace_back(metric.name, program::with_digits(json_of(metric.value), keeps_digits(metric) ? 0 : digits));
    if (metric.low)
      intervals.emplace_back(metric.name,
                             program::with_digits(JsonArray{Json(*metric.low), Json(*metric.high)}, digits));
    if (!metric.note.empty()) notes.emplace_back(metric.name, metric.note);
  }
  return members;
}

JsonObject slices_of(const EvalResult& result, int digits) {
  JsonArray slices;
  for (const SliceResult& slice : result.slices) {
    MetricMembers members = members_of(slice.metrics, digits);
    slices.push_back(JsonObject{{"value", slice.value},
                                {"rows", static_cast<uint64_t>(slice.rows)},
                                {"metrics", std::move(members.metrics)},
                                {"intervals", std::move(members.intervals)},
                                {"notes", std::move(members.notes)}});
  }
  return {{"column", result.by},
          {"rows_without", static_cast<uint64_t>(result.without_slice)},
          {"slices", std::move(slices)}};
}

Json document_of(const EvalResult& result, int digits) {
  MetricMembers members = members_of(result.metrics, digits);
  JsonObject document{{"task", result.task->name},
                      {"rows", static_cast<uint64_t>(result.rows)},
                      {"failed", static_cast<uint64_t>(result.failed)},
                      {"unlabelled", static_cast<uint64_t>(result.unlabelled)},
                      {"unanswered", static_cast<uint64_t>(result.unanswered)},
                      {"metrics", std::move(members.metrics)},
                      {"intervals", std::move(members.intervals)},
                      {"settings", result.settings},
                      {"bootstrap_samples", static_cast<uint64_t>(result.samples)},
                      {"notes", std::move(members.notes)}};
  if (!result.by.empty()) document.emplace_back("by", slices_of(result, digits));
  return document;
}

// For the user: what the numbers leave out.
void print_notes(const EvalResult& result) {
  for (const Metric& metric : result.metrics) {
    if (!metric.note.empty()) program::note(fmt::format("note: {}: {}", metric.name, metric.note));
  }
  for (const SliceResult& slice : result.slices) {
    for (const Metric& metric : slice.metrics) {
      if (!metric.note.empty())
        program::note(fmt::format("note: {}: {}: {}", program::escape_table(slice.value), metric.name, metric.note));
    }
  }
  if (result.without_slice > 0)
    program::note(fmt::format("note: {} of {} rows that count have no {} and are in no slice", result.without_slice,
                              result.sliced_rows, result.by));
  program::note_repaired_rows(result.repaired);
  if (!result.settings.empty()) {
    std::string settings;
    for (const auto& [name, value] : result.settings)
      settings += fmt::format("{}{} {}", settings.empty() ? "" : ", ", name,
                              value.is_string() ? value.as_string() : value.dump());
    program::note("note: settings: " + settings);
  }
  if (result.unlabelled > 0)
    program::note(fmt::format("note: {} of {} rows have no label and are not counted", result.unlabelled, result.rows));
  if (result.unanswered > 0)
    program::note(fmt::format("note: {} of {} rows have no prediction", result.unanswered, result.rows));
  if (result.failed > 0)
    program::note(fmt::format("rows: {} ok, {} failed", result.rows - result.failed, result.failed));
}

// "accuracy/fiction" of mnli-mm is eval_accuracy_fiction_mm: as the Hugging Face scripts write it next to mnli's.
std::string key_of(std::string_view metric, const TaskRow& task) {
  std::string key = "eval_" + std::string(metric);
  std::replace(key.begin(), key.end(), '/', '_');
  return task.name == "mnli-mm" ? key + "_mm" : key;
}

JsonObject load_object(const std::string& path) {
  if (!is_regular_file(path)) return {};
  Json document = load_json(path);
  if (!document.is_object()) throw Error(ErrorCode::kInput, path, "expected an object, got " + document.describe());
  return std::move(document.as_object());
}

void set(JsonObject& object, const std::string& key, Json value) {
  const auto entry =
      std::find_if(object.begin(), object.end(), [&](const JsonMember& member) { return member.first == key; });
  if (entry == object.end())
    object.emplace_back(key, std::move(value));
  else
    entry->second = std::move(value);
}

}  // namespace

void print_answer_notes(const EncodingSettings& encoding, const EvalResult& result) {
  for (const std::string& file : result.repaired_files)
    program::note(fmt::format("note: {} had invalid UTF-8, replaced by U+FFFD", file));
  program::note_cut_rows(encoding, result.cut.rows, result.cut.of, result.cut.max_tokens);
  if (result.unused_predictions > 0)
    program::note(
        fmt::format("note: {} of {} predictions match no row", result.unused_predictions, result.predictions));
}

void print_result(const OutputSettings& output, const EvalResult& result) {
  if (!result.has_labels()) program::note("note: no row has a label: no metrics, only predictions");
  program::with_output(output, [&](FileWriter& out) {
    const Format format = program::format_of(output);
    if (program::is_json(format)) {
      out.write(document_of(result, program::digits_of(output)).dump(format == Format::kJson ? 2 : 0) + '\n');
      return;
    }
    std::vector<std::string> columns{"metric", "value", "low", "high"};
    if (!result.by.empty()) columns.insert(columns.begin(), {"slice", "rows"});
    program::AnswerWriter writer({.format = format,
                                  .columns = std::move(columns),
                                  .has_mark = output.bom.value_or(false),
                                  .has_header = !output.no_header.value_or(false),
                                  .digits = program::digits_of(output)},
                                 out);
    const auto write = [&](const program::Cells& first, const std::vector<Metric>& metrics) {
      for (const Metric& metric : metrics) {
        program::Cells cells = first;
        cells.insert(cells.end(), {metric.name, cell_of(metric), cell_of(metric.low), cell_of(metric.high)});
        writer.answer({}, {{}, {std::move(cells)}});
      }
    };
    const auto slice = [](const std::string& value, size_t rows) {
      return program::Cells{value, program::cell(static_cast<uint64_t>(rows))};
    };
    write(result.by.empty() ? program::Cells{} : slice("", result.sliced_rows), result.metrics);
    for (const SliceResult& slice_result : result.slices)
      write(slice(slice_result.value, slice_result.rows), slice_result.metrics);
    writer.finish();
  });
  print_notes(result);
}

namespace {

std::string results_path(const std::string& folder) {
  return fmt::format("{}/{}", folder, kResultsName);
}

}  // namespace

void check_results(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  if (is_directory(folder)) {
    check_output_file(results_path(folder));
    load_object(results_path(folder));
    return;
  }
  fs::path above = fs::absolute(folder, unknown).lexically_normal();
  while (!fs::exists(above, unknown) && above.has_relative_path()) above = above.parent_path();
  if (!is_directory(above.string())) throw Error(ErrorCode::kFileWrite, folder, "expected a folder, got a file");
  check_output_file((above / kResultsName).string());
}

void write_results(const std::string& folder, const EvalResult& result) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw Error(ErrorCode::kFileWrite, folder, "cannot create the folder: " + failure.message());
  const std::string path = results_path(folder);
  JsonObject object = load_object(path);
  set(object, "task", result.task->name == "mnli-mm" ? "mnli" : result.task->name);
  for (const Metric& metric : result.metrics) {
    const std::string key = key_of(metric.name, *result.task);
    set(object, key, json_of(metric.value));
    if (metric.low) set(object, key + "_interval", JsonArray{Json(*metric.low), Json(*metric.high)});
  }
  set(object, key_of("samples", *result.task), static_cast<uint64_t>(result.rows - result.failed - result.unlabelled));
  program::write_output(path, [&](FileWriter& out) { out.write(Json(std::move(object)).dump(4) + '\n'); });
}

}  // namespace deberta::cli
