// The table of results of many tasks, with the averages of GLUE and SuperGLUE.
#include <fmt/format.h>

#include <utility>

#include "cli/eval_report.h"
#include "eval/results.h"
#include "metrics/benchmarks.h"
#include "program/note.h"

namespace deberta::cli {
namespace {

std::string cell_of(double value) {
  return fmt::format("{:.2f}", value);
}

}  // namespace

void print_averages(const OutputSettings& output, const std::string& folder) {
  const LoadedResults results = load_results(folder);
  for (const std::string& path : results.nameless)
    program::note(fmt::format("note: {}: neither the key task nor the folder name gives a task", path));
  std::vector<program::Answer> answers;
  for (const TaskRow& task : task_table()) {
    const auto entry = results.tasks.find(std::string(task.name));
    if (entry == results.tasks.end()) continue;
    for (const std::string& metric : split_words(task.metrics)) {
      const auto value = entry->second.find(metric);
      if (value == entry->second.end()) continue;
      answers.push_back({{{"task", task.name}, {"metric", metric}, {"value", value->second}},
                         {{std::string(task.name), metric, cell_of(value->second), ""}}});
    }
  }
  for (const BenchmarkScore& score : benchmark_scores(results.tasks)) {
    JsonArray missing(score.missing.begin(), score.missing.end());
    answers.push_back({{{"task", score.name},
                        {"metric", "average"},
                        {"value", score.value ? Json(*score.value) : Json(nullptr)},
                        {"missing", std::move(missing)}},
                       {{score.name, "average", score.value ? cell_of(*score.value) : "",
                         fmt::format("{}", fmt::join(score.missing, ", "))}}});
  }
  program::print_table(output, {"task", "metric", "value", "missing"}, answers);
}

}  // namespace deberta::cli
