// Results of many tasks from a folder: ours, or those of the Hugging Face scripts.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <unordered_map>
#include <utility>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "cli/eval_report.h"
#include "deberta/error.h"
#include "metrics/benchmarks.h"
#include "options/options.h"

namespace deberta::cli {
namespace {

constexpr const char* kName = "all_results.json";

std::vector<std::string> result_files(const std::string& folder) {
  std::vector<std::string> paths;
  const auto names = read_names(folder);
  if (!names) throw Error(ErrorCode::kFileNotFound, folder, system_message());
  for (const std::string& name : *names) {
    const std::string path = fmt::format("{}/{}", folder, name);
    if (name == kName) paths.push_back(path);
    if (is_regular_file(path + "/" + kName)) paths.push_back(path + "/" + kName);
  }
  if (paths.empty())
    throw Error(ErrorCode::kInput, folder,
                fmt::format("expected {0} or folders with {0}; eval --output-dir writes it", kName));
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The key "task", else the name of the folder. Nothing when neither is a task.
const TaskRow* task_of(const Json& document, const std::string& path) {
  const Json* name = document.find("task");
  if (name != nullptr && name->is_string()) return look_up_task(name->as_string());
  return look_up_task(std::filesystem::absolute(path).parent_path().filename().string());
}

using AllResults = std::unordered_map<std::string, TaskResults>;

// The metrics of a task whose keys end in `ending`, in per cent.
void take(const TaskRow& task, const Json& document, std::string_view ending, AllResults& results) {
  const bool is_percent = task.target == TaskTarget::kText;
  for (const std::string& metric : split_words(task.metrics)) {
    const Json* value = document.find(fmt::format("eval_{}{}", metric, ending));
    if (value == nullptr && metric == "f1_macro") value = document.find(fmt::format("eval_f1{}", ending));
    if (value != nullptr && value->is_number())
      results[std::string(task.name)][metric] = value->as_number() * (is_percent ? 1 : 100);
  }
}

AllResults load_results(const std::string& folder, const Options& options) {
  AllResults results;
  for (const std::string& path : result_files(folder)) {
    const Json document = load_json(path);
    const TaskRow* task = task_of(document, path);
    if (task == nullptr) {
      note(options, fmt::format("note: {}: neither the key task nor the folder name gives a task", path));
      continue;
    }
    take(*task, document, "", results);
    if (task->name == "mnli") take(find_task("mnli-mm"), document, "_mm", results);
  }
  return results;
}

std::string cell_of(double value) {
  return fmt::format("{:.2f}", value);
}

}  // namespace

void print_averages(const Options& options, const std::string& folder) {
  const AllResults results = load_results(folder, options);
  std::vector<Answer> answers;
  for (const TaskRow& task : task_table()) {
    const auto found = results.find(std::string(task.name));
    if (found == results.end()) continue;
    for (const std::string& metric : split_words(task.metrics)) {
      const auto value = found->second.find(metric);
      if (value == found->second.end()) continue;
      answers.push_back({{{"task", task.name}, {"metric", metric}, {"value", value->second}},
                         {{std::string(task.name), metric, cell_of(value->second), ""}}});
    }
  }
  for (const BenchmarkScore& score : benchmark_scores(results)) {
    JsonArray missing(score.missing.begin(), score.missing.end());
    answers.push_back({{{"task", score.name},
                        {"metric", "average"},
                        {"value", score.value ? Json(*score.value) : Json(nullptr)},
                        {"missing", std::move(missing)}},
                       {{score.name, "average", score.value ? cell_of(*score.value) : "",
                         fmt::format("{}", fmt::join(score.missing, ", "))}}});
  }
  print_rows(options, {"task", "metric", "value", "missing"}, answers);
}

}  // namespace deberta::cli
