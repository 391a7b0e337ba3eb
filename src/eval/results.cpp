// Finds the task of each result file by its key or its folder, and takes the metrics of that task from it.
#include "eval/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/descriptor.h"
#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "deberta/error.h"
#include "metrics/task_table.h"

namespace deberta {
namespace {

std::vector<std::string> result_files(const std::string& folder) {
  std::vector<std::string> paths;
  const auto names = read_names(folder);
  if (!names) throw Error(ErrorCode::kFileNotFound, folder, system_message());
  for (const std::string& name : *names) {
    const std::string path = fmt::format("{}/{}", folder, name);
    if (name == kResultsName) paths.push_back(path);
    if (is_regular_file(path + "/" + kResultsName)) paths.push_back(path + "/" + kResultsName);
  }
  if (paths.empty())
    throw Error(ErrorCode::kInput, {{.where = folder,
                                     .message = fmt::format("expected {0} or folders with {0}", kResultsName),
                                     .remedies = {{"eval {} writes it", "output_dir"}}}});
  std::sort(paths.begin(), paths.end());
  return paths;
}

// The task named by the key "task", else by the folder. Null when neither is a task.
const TaskRow* task_of(const Json& document, const std::string& path) {
  const Json* name = document.find("task");
  if (name != nullptr && name->is_string()) return look_up_task(name->as_string());
  return look_up_task(std::filesystem::absolute(path).parent_path().filename().string());
}

// The metrics of a task whose keys end in `ending`, in percent.
void take(const TaskRow& task, const Json& document, std::string_view ending, LoadedResults& results) {
  const bool is_percent = task.target == TaskTarget::kText;
  for (const std::string& metric : split_words(task.metrics)) {
    const Json* value = document.find(fmt::format("eval_{}{}", metric, ending));
    if (value == nullptr && metric == "f1_macro") value = document.find(fmt::format("eval_f1{}", ending));
    if (value != nullptr && value->is_number())
      results.tasks[std::string(task.name)][metric] = value->as_number() * (is_percent ? 1 : 100);
  }
}

}  // namespace

LoadedResults load_results(const std::string& folder) {
  LoadedResults results;
  for (const std::string& path : result_files(folder)) {
    const Json document = load_json(path);
    const TaskRow* task = task_of(document, path);
    if (task == nullptr) {
      results.nameless.push_back(path);
      continue;
    }
    take(*task, document, "", results);
    if (task->name == "mnli") take(find_task("mnli-mm"), document, "_mm", results);
  }
  return results;
}

}  // namespace deberta
