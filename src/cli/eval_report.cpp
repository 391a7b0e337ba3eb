// Forms of one result; the averages are in eval_average.cpp.
#include "cli/eval_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "cli/rows.h"
#include "deberta/error.h"

namespace deberta::cli {
namespace {

std::string cell(std::optional<double> value) {
  if (!value) return {};
  char buffer[32];
  return {buffer, std::to_chars(buffer, buffer + sizeof buffer, *value).ptr};
}
Json json_of(std::optional<double> value) {
  return value ? Json(*value) : Json(nullptr);
}

Json document_of(const EvalResult& result) {
  JsonObject metrics, intervals, notes;
  for (const Metric& metric : result.metrics) {
    metrics.emplace_back(metric.name, json_of(metric.value));
    if (metric.low) intervals.emplace_back(metric.name, JsonArray{Json(*metric.low), Json(*metric.high)});
    if (!metric.note.empty()) notes.emplace_back(metric.name, metric.note);
  }
  return JsonObject{{"task", result.task->name},
                    {"rows", static_cast<uint64_t>(result.rows)},
                    {"failed", static_cast<uint64_t>(result.failed)},
                    {"unlabelled", static_cast<uint64_t>(result.unlabelled)},
                    {"unanswered", static_cast<uint64_t>(result.unanswered)},
                    {"metrics", std::move(metrics)},
                    {"intervals", std::move(intervals)},
                    {"bootstrap_samples", static_cast<uint64_t>(result.samples)},
                    {"notes", std::move(notes)}};
}

// For a person: what the numbers leave out.
void print_notes(const Options& options, const EvalResult& result) {
  for (const Metric& metric : result.metrics) {
    if (!metric.note.empty()) note(options, fmt::format("note: {}: {}", metric.name, metric.note));
  }
  if (result.unlabelled > 0)
    note(options, fmt::format("note: {} of {} rows have no label and are not counted", result.unlabelled, result.rows));
  if (result.unanswered > 0)
    note(options, fmt::format("note: {} of {} rows have no prediction", result.unanswered, result.rows));
  if (result.failed > 0)
    note(options, fmt::format("rows: {} ok, {} failed", result.rows - result.failed, result.failed));
}

// "accuracy/fiction" of mnli-mm is eval_accuracy_fiction_mm: as the Hugging Face scripts write it beside mnli's.
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
  const auto found =
      std::find_if(object.begin(), object.end(), [&](const JsonMember& member) { return member.first == key; });
  if (found == object.end())
    object.emplace_back(key, std::move(value));
  else
    found->second = std::move(value);
}

}  // namespace

void print_result(const Options& options, const EvalResult& result) {
  with_output(options, [&](FileWriter& out) {
    const Format format = format_of(options);
    if (format == Format::kJson || format == Format::kJsonl) {
      out.write(document_of(result).dump(format == Format::kJson ? 2 : 0) + '\n');
      return;
    }
    AnswerWriter writer(format, {"metric", "value", "low", "high"}, !options.flag("no-header"), out);
    for (const Metric& metric : result.metrics)
      writer.answer({}, {{}, {{metric.name, cell(metric.value), cell(metric.low), cell(metric.high)}}});
    writer.finish();
  });
  print_notes(options, result);
}

void print_rows(const Options& options, const std::vector<std::string>& columns, const std::vector<Answer>& answers) {
  with_output(options, [&](FileWriter& out) {
    AnswerWriter writer(format_of(options), columns, !options.flag("no-header"), out);
    for (const Answer& answer : answers) writer.answer({}, answer);
    writer.finish();
  });
}

void write_results(const std::string& folder, const EvalResult& result) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw Error(ErrorCode::kFileWrite, folder, "cannot create the folder: " + failure.message());
  const std::string path = folder + "/all_results.json";
  JsonObject object = load_object(path);
  set(object, "task", result.task->name == "mnli-mm" ? "mnli" : result.task->name);
  for (const Metric& metric : result.metrics) {
    const std::string key = key_of(metric.name, *result.task);
    set(object, key, json_of(metric.value));
    if (metric.low) set(object, key + "_interval", JsonArray{Json(*metric.low), Json(*metric.high)});
  }
  set(object, key_of("samples", *result.task), static_cast<uint64_t>(result.rows - result.failed - result.unlabelled));
  write_file_atomically(path, [&](FileWriter& out) { out.write(Json(std::move(object)).dump(4) + '\n'); });
}

}  // namespace deberta::cli
