// Reads all_results.json and the log of each run.
#include "train/ablation/cell_runs.h"

#include <string_view>

#include "base/json.h"
#include "deberta/config.h"
#include "deberta/error.h"
#include "train/ablation/flops.h"
#include "train/report/folds.h"
#include "train/report/run_record.h"
#include "train/state/run_folder.h"

namespace deberta::train {
namespace {

double number_in(const Json& results, const std::string& name, const std::string& where) {
  const Json* value = results.find(name);
  if (value == nullptr || !value->is_number())
    throw Error(ErrorCode::kInput, where, "expected a number " + name + " in " + kResultsName + ", got none");
  return value->as_number();
}

Json results_in(const std::string& run_folder) {
  return load_json(run_folder + "/" + kResultsName);
}

double seconds_of(const std::string& run_folder) {
  return load_run_record(run_folder).seconds();
}

double flops_per_token(const std::string& run_folder, const PretrainingFacts& facts) {
  const auto of = [&](const std::string& model, double predicted) {
    return training_flops_per_token(load_model_config(run_folder + "/" + model + "config.json"), facts.max_tokens,
                                    predicted);
  };
  return facts.is_pair ? of("generator/", facts.predicted) + of("discriminator/", 0) : of("", facts.predicted);
}

}  // namespace

std::vector<TaskRun> runs_of(const PlanTask& task) {
  if (task.folds == 0) return {{task.name, ""}};
  std::vector<TaskRun> runs;
  for (size_t number = 1; number <= task.folds; ++number)
    runs.push_back(
        {task.name + "/" + fold_name(number, task.folds), std::to_string(number) + "/" + std::to_string(task.folds)});
  return runs;
}

std::vector<std::string> run_folders(const Plan& plan) {
  std::vector<std::string> folders;
  if (plan.model.empty()) folders.emplace_back(kPretrainFolder);
  for (const PlanTask& task : plan.tasks) {
    for (const TaskRun& run : runs_of(task)) folders.push_back(run.folder);
  }
  return folders;
}

void add_pretraining(const std::string& cell_folder, const Cell& cell, const PretrainingFacts& facts,
                     CellResult& result) {
  const std::string folder = cell_folder + "/" + kPretrainFolder;
  const Json results = results_in(folder);
  result.tokens = number_in(results, "tokens", cell.name + "/" + kPretrainFolder);
  result.flops = result.tokens * flops_per_token(folder, facts);
  result.seconds = seconds_of(folder);
  for (const auto& [name, value] : results.as_object()) {
    if (name.starts_with(kEvaluation) && value.is_number())
      result.pretraining.emplace_back(name.substr(kEvaluation.size()), value.as_number());
  }
}

void add_task(const std::string& cell_folder, const Cell& cell, const PlanTask& task, CellResult& result) {
  const Json results = results_in(cell_folder + "/" + task.name);
  for (const TaskRun& run : runs_of(task)) result.seconds += seconds_of(cell_folder + "/" + run.folder);
  result.tasks.emplace_back(task.name, number_in(results, "eval_" + task.metric, cell.name + "/" + task.name));
}

}  // namespace deberta::train
