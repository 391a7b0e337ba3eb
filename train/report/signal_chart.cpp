// Adds up the labels of the steps between the lines of a log.
#include "train/report/signal_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "chart/page.h"
#include "chart/text.h"

namespace deberta::train {
namespace {

// A metric with the mean number of positions in a step, and what a model does there.
struct SignalMetric {
  std::string_view name, what;
  bool is_of_pair = false;  // the model is not trained in the first steps
};
constexpr std::array kSignalMetrics = {
    SignalMetric{"labels_per_step", "pieces predicted"},
    SignalMetric{"generator_labels_per_step", "pieces predicted by the generator"},
    SignalMetric{"discriminator_labels_per_step", "tokens judged by the discriminator", true},
};

const double* find_metric(const LoggedLine& line, std::string_view name) {
  const auto match = std::ranges::find(line.metrics, name, &std::pair<std::string, double>::first);
  return match == line.metrics.end() || !std::isfinite(match->second) ? nullptr : &match->second;
}

// Fine-tuning has labels too, and no perplexity.
bool is_of_pretraining(const LoggedLine& line) {
  return std::ranges::any_of(line.metrics, [](const auto& metric) {
    return metric.first.ends_with("perplexity") && !metric.first.starts_with(kEvaluation);
  });
}

chart::Line count_positions(std::span<const LoggedLine> log, const SignalMetric& metric, int64_t alone) {
  chart::Line line{.name = std::string(metric.what), .points = {{0, 0}}};
  double positions = 0;
  int64_t counted = metric.is_of_pair ? alone : 0;  // steps
  bool has_any = false;
  for (const LoggedLine& logged : log) {
    const double *tokens = find_metric(logged, "tokens"), *per_step = find_metric(logged, metric.name);
    if (tokens == nullptr) continue;  // an evaluation
    if (per_step != nullptr && logged.step > counted) {
      positions += *per_step * static_cast<double>(logged.step - counted);
      has_any = true;
    }
    counted = std::max(counted, logged.step);
    line.points.push_back({*tokens, positions});
  }
  if (!has_any) line.points.clear();
  line.note = chart::axis_number(positions);
  return line;
}

}  // namespace

std::vector<chart::Line> signal_lines(std::span<const LoggedLine> log, int64_t alone) {
  std::vector<chart::Line> lines;
  if (std::ranges::none_of(log, is_of_pretraining)) return lines;
  for (const SignalMetric& metric : kSignalMetrics) {
    chart::Line line = count_positions(log, metric, alone);
    if (!line.points.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<chart::Line> signal_lines(const RunRecord& record) {
  return signal_lines(record.log, parse_number<int64_t>(record.option("generator-warmup")).value_or(0));
}

std::string signal_chart(const RunRecord& record, std::span<const RunRecord> others) {
  chart::LineChart drawn{.title = "Positions with a loss",
                         .x = {.title = "tokens read", .low = 0},
                         .y = {.title = "positions", .low = 0},
                         .lines = signal_lines(record),
                         .width = chart::kFigureWidth};
  if (drawn.lines.empty()) return "";
  const auto add_name = [](chart::Line& line, const RunRecord& run) { line.name = run.name() + ": " + line.name; };
  if (!others.empty()) {
    for (chart::Line& line : drawn.lines) add_name(line, record);
  }
  for (const RunRecord& other : others) {
    for (chart::Line& line : signal_lines(other)) {
      add_name(line, other);
      drawn.lines.push_back(std::move(line));
    }
  }
  return svg_figure(chart::draw(drawn));
}

}  // namespace deberta::train
