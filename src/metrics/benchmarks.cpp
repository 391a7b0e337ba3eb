// Which metrics of which tasks count.
#include "metrics/benchmarks.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "metrics/task_table.h"

namespace deberta {
namespace {

// Parts of a task: "TASK METRIC", separated by commas; its score is their mean.
struct Benchmark {
  std::string_view name;
  std::vector<std::string_view> tasks;
};

const std::vector<Benchmark>& benchmarks() {
  static const std::vector<Benchmark> rows = {
      {"GLUE",
       {"cola matthews_correlation", "sst-2 accuracy", "mrpc f1,mrpc accuracy", "sts-b pearson,sts-b spearmanr",
        "qqp f1,qqp accuracy", "mnli accuracy,mnli-mm accuracy", "qnli accuracy", "rte accuracy", "wnli accuracy"}},
      {"GLUE-8",
       {"cola matthews_correlation", "sst-2 accuracy", "mrpc accuracy", "sts-b pearson", "qqp accuracy",
        "mnli accuracy,mnli-mm accuracy", "qnli accuracy", "rte accuracy"}},
      {"SuperGLUE",
       {"boolq accuracy", "cb f1_macro,cb accuracy", "copa accuracy", "multirc f1,multirc exact_match",
        "record f1,record exact_match", "rte accuracy", "wic accuracy", "wsc accuracy"}}};
  return rows;
}

// The mean of the parts; those that are missing are named.
double mean_of(std::string_view parts, const std::unordered_map<std::string, TaskResults>& results,
               std::vector<std::string>& missing) {
  double sum = 0;
  const std::vector<std::string> list = split_words(parts, ',');
  for (const std::string& part : list) {
    const std::vector<std::string> words = split_words(part);
    const auto task = results.find(words[0]);
    if (task == results.end()) {
      if (std::find(missing.begin(), missing.end(), words[0]) == missing.end()) missing.push_back(words[0]);
      continue;
    }
    const auto metric = task->second.find(words[1]);
    if (metric == task->second.end())
      missing.push_back(part);
    else
      sum += metric->second;
  }
  return sum / static_cast<double>(list.size());
}

}  // namespace

std::vector<BenchmarkScore> benchmark_scores(const std::unordered_map<std::string, TaskResults>& results) {
  std::vector<BenchmarkScore> scores;
  for (const Benchmark& benchmark : benchmarks()) {
    BenchmarkScore score{std::string(benchmark.name), std::nullopt, {}};
    double sum = 0;
    for (const std::string_view task : benchmark.tasks) sum += mean_of(task, results, score.missing);
    if (score.missing.empty()) score.value = sum / static_cast<double>(benchmark.tasks.size());
    scores.push_back(std::move(score));
  }
  return scores;
}

}  // namespace deberta
