// The averages of GLUE and SuperGLUE from the metrics of their tasks.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace deberta {

// The results of one task by the names of its metrics, in per cent.
using TaskResults = std::unordered_map<std::string, double>;

struct BenchmarkScore {
  std::string name;                  // "GLUE", ...
  std::optional<double> value;       // in per cent; none while a task is missing
  std::vector<std::string> missing;  // "qnli", or "mrpc f1" where only a metric is missing
};

// GLUE: the mean of nine tasks, each the mean of its metrics, MNLI of its two parts. GLUE-8: as the DeBERTa papers
// report it, without WNLI, one metric per task. SuperGLUE: the mean of eight tasks. `results` uses the table's names.
std::vector<BenchmarkScore> benchmark_scores(const std::unordered_map<std::string, TaskResults>& results);

}  // namespace deberta
