// The results that were published, as a table and as charts: bars for each task, and MNLI against parameters.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chart/chart.h"
#include "checkpoint/parameter_count.h"
#include "cli/eval_report.h"
#include "config/model_config.h"
#include "config/published_sizes.h"
#include "deberta/error.h"
#include "metrics/published_results.h"
#include "metrics/task_table.h"
#include "program/answers.h"
#include "program/output.h"

namespace deberta::cli {
namespace {

constexpr std::string_view kScatterTask = "mnli";

// With the word table, without absolute positions and head; 0 for another model than a DeBERTa.
int64_t parameters_of(std::string_view name) {
  const PublishedSize* size = find_published_size(name);
  if (size == nullptr) return 0;
  const ModelConfig config = published_config(*size);
  const ParameterCounts counts = count_parameters(config, head_of_config(config), 0);
  return counts.words + counts.backbone();
}

program::Answer answer_of(const PublishedResult& result) {
  program::Answer answer{{{"model", result.model},
                          {"task", result.task},
                          {"metric", result.metric},
                          {"value", result.value},
                          {"source", result.source}},
                         {{std::string(result.model), std::string(result.task), std::string(result.metric),
                           fmt::format("{:.1f}", result.value), std::string(result.source)}}};
  if (!result.note.empty()) answer.object.emplace_back("note", result.note);
  if (result.is_ablation) answer.object.emplace_back("ablation", true);
  if (const int64_t parameters = parameters_of(result.size); parameters > 0) {
    answer.object.emplace_back("size", result.size);
    answer.object.emplace_back("parameters", parameters);
  }
  return answer;
}

// ---- charts

// The place of `name` in `names`, which gets it at its end if it lacks it.
size_t place_of(std::vector<std::string>& names, std::string_view name) {
  const auto match = std::ranges::find(names, name);
  if (match != names.end()) return static_cast<size_t>(match - names.begin());
  names.emplace_back(name);
  return names.size() - 1;
}

// Those of one task and kind: a row for each model, a bar for each metric.
chart::BarChart bars_of(const std::vector<PublishedResult>& results, std::string_view title) {
  std::vector<std::string> metrics;
  chart::BarChart drawn{.title = std::string(title), .x_title = "per cent", .labels = {}, .series = {}};
  for (const PublishedResult& result : results) {
    const size_t row = place_of(drawn.labels, result.model), metric = place_of(metrics, result.metric);
    if (metric == drawn.series.size()) drawn.series.push_back({.name = metrics[metric], .values = {}});
    std::vector<double>& values = drawn.series[metric].values;
    values.resize(std::max(values.size(), row + 1), chart::kMissing);
    values[row] = result.value;
  }
  for (chart::Bars& bars : drawn.series) bars.values.resize(drawn.labels.size(), chart::kMissing);
  return drawn;
}

chart::LineChart scatter_of(const std::vector<PublishedResult>& results) {
  chart::LineChart drawn{.title = "MNLI, matched, against the parameters of DeBERTa",
                         .x = {.title = "parameters, with words", .spacing = chart::Spacing::kLogarithmic},
                         .y = {.title = "accuracy, per cent"},
                         .lines = {}};
  for (const auto& [version, name] :
       {std::pair(ModelVersion::kV1, "version 1"), std::pair(ModelVersion::kV2, "version 2"),
        std::pair(ModelVersion::kV3, "version 3")}) {
    chart::Line line{.name = name, .points = {}, .is_joined = false};
    for (const PublishedResult& result : results) {
      const PublishedSize* size = find_published_size(result.size);
      if (size == nullptr || size->version != version || result.is_ablation || result.task != kScatterTask) continue;
      line.points.push_back({static_cast<double>(parameters_of(result.size)), result.value});
    }
    drawn.lines.push_back(std::move(line));
  }
  std::erase_if(drawn.lines, [](const chart::Line& line) { return line.points.empty(); });
  return drawn;
}

// MNLI's two parts share a chart.
std::string_view chart_task(std::string_view task) {
  return task.starts_with(kScatterTask) ? kScatterTask : task;
}

// The two parts by name, as their metric is the same.
PublishedResult named_in_chart(PublishedResult result) {
  if (result.task == "mnli") result.metric = "matched";
  if (result.task == "mnli-mm") result.metric = "mismatched";
  return result;
}

std::string draw(const std::vector<PublishedResult>& results) {
  constexpr size_t kColumnsOfCharts = 2;
  std::vector<chart::Picture> pictures;
  for (const bool is_ablation : {false, true}) {
    std::vector<std::string> tasks;
    for (const PublishedResult& result : results) {
      if (result.is_ablation == is_ablation) place_of(tasks, chart_task(result.task));
    }
    for (const std::string& task : tasks) {
      std::vector<PublishedResult> of_task;
      for (const PublishedResult& result : results) {
        if (result.is_ablation == is_ablation && chart_task(result.task) == task)
          of_task.push_back(named_in_chart(result));
      }
      pictures.push_back(
          chart::draw(bars_of(of_task, task + (is_ablation ? ", without parts of the base model" : ""))));
    }
  }
  if (const chart::LineChart scatter = scatter_of(results); !scatter.lines.empty())
    pictures.push_back(chart::draw(scatter));
  return svg_file(arranged(pictures, kColumnsOfCharts));
}

}  // namespace

void print_published(const OutputSettings& output, const std::string& task, const std::string& chart_path) {
  std::vector<PublishedResult> results(published_results().begin(), published_results().end());
  if (!task.empty()) {
    const std::string_view name = find_task(task).name;
    std::erase_if(results, [&](const PublishedResult& result) { return result.task != name; });
    if (results.empty()) throw Error(ErrorCode::kUsage, "--task", fmt::format("nothing is published for {}", name));
  }
  std::vector<program::Answer> answers;
  for (const PublishedResult& result : results) answers.push_back(answer_of(result));
  program::print_table(output, {"model", "task", "metric", "value", "source"}, answers);
  if (!chart_path.empty()) program::write_output(chart_path, [&](FileWriter& out) { out.write(draw(results)); });
}

}  // namespace deberta::cli
