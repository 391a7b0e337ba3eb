// Options are checked by the verbs that know them; files, metrics and the folder are checked here.
#include "train/ablation/plan_checks.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "base/folder.h"
#include "base/refuse_argument.h"
#include "base/temporary.h"
#include "deberta/error.h"
#include "metrics/task_table.h"

namespace deberta::train {
namespace {

namespace fs = std::filesystem;

// ---- options

void check_cells(const PlanFile& file, const CheckOptions& check_options) {
  std::vector<Problem> problems;
  const auto check = [&](const std::string& verb, const JsonObject& options, const std::string& at) {
    for (const auto& [name, message] : check_options(verb, options))
      problems.push_back({.where = file.path, .message = at + "." + name + ": " + message});
  };
  for (const PlanForm& form : file.plan.forms) check("finetune", form.finetune, "forms." + form.name + ".finetune");
  std::string last;
  for (const Cell& cell : file.cells) {
    if (cell.form == last) continue;  // another seed has the same options
    last = cell.form;
    check("pretrain", cell.pretrain, "forms." + cell.form);
    for (const auto& [task, options] : cell.finetune) {
      if (&cell == &file.cells.front()) check("finetune", options, "tasks." + task);
    }
  }
  if (!problems.empty()) throw Error(ErrorCode::kUsage, problems);
}

void check_metrics(const PlanFile& file) {
  std::vector<Problem> problems;
  for (const PlanTask& task : file.plan.tasks) {
    const std::vector<std::string> known = split_words(find_task(task.name).metrics);
    if (std::find(known.begin(), known.end(), task.metric) == known.end())
      problems.push_back({.where = file.path,
                          .message = "tasks." + task.name + ".metric: expected one of " +
                                     std::string(find_task(task.name).metrics) + ", got " + task.metric});
  }
  if (!problems.empty()) throw Error(ErrorCode::kUsage, problems);
}

// ---- files

// The files that the plan names, each with where it does: corpora, a model, the files of tasks.
std::vector<std::pair<std::string, std::string>> named_files(const PlanFile& file) {
  std::vector<std::pair<std::string, std::string>> files;
  for (const std::string& corpus : file.plan.corpora) files.emplace_back("corpora", file.from_root(corpus));
  if (!file.plan.model.empty()) files.emplace_back("model", file.from_root(file.plan.model));
  for (const PlanTask& task : file.plan.tasks) {
    for (const auto& [name, value] : task.options) {
      if (name.ends_with("-file") && value.is_string())
        files.emplace_back("tasks." + task.name + "." + name, file.from_root(value.as_string()));
    }
  }
  return files;
}

void check_files(const PlanFile& file) {
  std::vector<Problem> problems;
  for (const auto& [at, path] : named_files(file)) {
    if (!is_regular_file(path) && !is_directory(path))
      problems.push_back({.where = file.path, .message = at + ": expected a file or a folder, got " + path});
  }
  if (!problems.empty()) throw Error(ErrorCode::kFileNotFound, problems);
}

// ---- the folder

// Whether two paths lead to one file.
bool is_same_file(const std::string& a, const std::string& b) {
  std::error_code none;
  return is_regular_file(a) && fs::equivalent(a, b, none);
}

// Files that the plan reads may neither lie in the folder of its runs and tables nor be linked to from there.
void check_keeps_files(const PlanFile& plan, const std::string& folder) {
  const std::vector<std::string> names = names_in(folder);
  const auto is_linked_to = [&](const std::string& file) {
    return std::ranges::any_of(names, [&](const std::string& name) { return is_same_file(folder + "/" + name, file); });
  };
  for (const auto& [at, file] : named_files(plan)) {
    if (is_linked_to(file) || is_inside(file, folder))
      refuse_argument("output_dir", "expected a folder without the files of the plan, got " + folder + " with " + file +
                                        "; choose another folder");
  }
}

void check_is_new(const std::string& folder) {
  for (const std::string& name : names_in(folder)) {
    if (!name.starts_with("tried") && name.find(kTemporaryMark) == std::string::npos)
      throw Error(ErrorCode::kFileWrite, folder,
                  "expected a new or empty folder, or one of this plan, got one with other files, such as " + name);
  }
}

}  // namespace

void check_plan(const PlanFile& file, const CheckOptions& check_options) {
  check_cells(file, check_options);
  check_metrics(file);
  check_files(file);
}

// The plan of the folder may have fewer forms, but none with other options under the same name.
void check_folder(const PlanFile& file, const std::string& folder) {
  check_keeps_files(file, folder);
  const std::string path = folder + "/" + kPlanName;
  if (!is_regular_file(path)) return check_is_new(folder);
  for (const Cell& old : load_plan(path).cells) {
    const auto same = std::ranges::find(file.cells, old.name, &Cell::name);
    if (same == file.cells.end() || same->hash != old.hash)
      refuse_argument("output_dir", folder + " holds runs of another plan: " + old.name +
                                        (same == file.cells.end() ? " is not in this plan" : " has other options") +
                                        "; give another folder");
  }
}

}  // namespace deberta::train
