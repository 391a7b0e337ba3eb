// A table of groups decides which metrics share a chart; every other metric has its own.
#include "train/report/charts.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include "chart/chart.h"
#include "chart/page.h"
#include "chart/text.h"

namespace deberta::train {
namespace {

using Names = std::vector<std::string_view>;

struct Group {
  const char* title;
  const char* unit;
  chart::Spacing spacing;
  Names metrics;  // an asterisk at the end: all names with this beginning
};

// The order of the charts.
const std::vector<Group>& groups() {
  using enum chart::Spacing;
  static const std::vector<Group> all = {
      {"Loss", "nats", kLinear, {"loss", "generator_loss", "task_loss", "adversarial_loss", "distillation_loss"}},
      {"Loss of the discriminator", "nats", kLinear, {"discriminator_loss"}},
      {"Accuracy in training", "", kLinear, {"accuracy", "generator_accuracy", "discriminator_accuracy"}},
      {"Precision and recall of replaced tokens", "", kLinear, {"discriminator_precision", "discriminator_recall"}},
      {"Share of replaced tokens", "", kLinear, {"replaced_share"}},
      {"Learning rate",
       "",
       kLinear,
       {"learning_rate", "head_learning_rate", "generator_learning_rate", "discriminator_learning_rate"}},
      {"Norm of the gradient before the clip",
       "",
       kLogarithmicIfWide,
       {"grad_norm", "generator_grad_norm", "discriminator_grad_norm"}},
      {"Speed", "tokens per second", kLinear, {"tokens_per_s"}},
      {"Cosine of the embedding tables of generator and discriminator", "", kLinear, {"table_cosine*"}},
  };
  return all;
}

// Counters, and metrics that follow from another.
constexpr auto kNotDrawn =
    std::to_array<std::string_view>({"samples", "tokens", "skipped_steps", "seconds", "epoch", "time"});
constexpr auto kCounts = std::to_array<std::string_view>({"pieces", "words", "rows", "total"});

bool is_evaluation(std::string_view metric) {
  return metric.starts_with(kEvaluation);
}

// The same, for one model or for each of a pair.
constexpr auto kPartsNotDrawn = std::to_array<std::string_view>({"perplexity", "labels_per_step"});

template <class List>
bool has(const List& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_drawn(std::string_view metric) {
  return !is_evaluation(metric) && !has(kNotDrawn, metric) &&
         std::none_of(kPartsNotDrawn.begin(), kPartsNotDrawn.end(),
                      [&](std::string_view part) { return metric.ends_with(part); });
}

bool is_count(std::string_view metric) {
  return std::any_of(kCounts.begin(), kCounts.end(), [&](std::string_view part) { return metric.ends_with(part); });
}

bool matches(std::string_view pattern, std::string_view name) {
  return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1)) : name == pattern;
}

// The steps at which the run was resumed.
std::vector<double> resumes_of(const RunRecord& record) {
  std::vector<double> steps;
  for (const RunEvent& event : record.events) {
    const auto step = static_cast<double>(event.step);
    const bool is_known = std::find(steps.begin(), steps.end(), step) != steps.end();
    if (event.kind == event::kResumed && !is_known) steps.push_back(step);
  }
  return steps;
}

// A line of a chart; the legend has its last value.
chart::Line line_of(const RunRecord& record, const std::string& metric, const std::string& label) {
  chart::Line line{.name = label, .points = {}};
  for (const Point& point : record.series(metric))
    line.points.push_back({static_cast<double>(point.step), point.value});
  if (!line.points.empty()) line.note = chart::exact_number(line.points.back().y);
  return line;
}

// A chart over the steps of the run; "" without a point.
std::string figure_of(chart::LineChart drawn, const std::vector<double>& resumes) {
  std::erase_if(drawn.lines, [](const chart::Line& line) { return line.points.empty(); });
  if (drawn.lines.empty()) return "";
  drawn.x = {.title = "step", .low = 0, .is_whole = true};
  drawn.width = chart::kFigureWidth;
  drawn.divisions = {.name = "continued after a break", .at = resumes};
  return svg_figure(chart::draw(drawn));
}

}  // namespace

bool is_lower_better(std::string_view metric) {
  constexpr auto kErrors = std::to_array<std::string_view>({"loss", "perplexity", "mse", "error"});
  // The metric of one score among several, with a name from the user: "mse_NAME".
  const std::string_view name = metric.starts_with(kEvaluation) ? metric.substr(kEvaluation.size()) : metric;
  if (name.starts_with("mse_")) return true;
  if (name.starts_with("pearson_") || name.starts_with("spearmanr_")) return false;
  return std::any_of(kErrors.begin(), kErrors.end(), [&](std::string_view part) { return metric.ends_with(part); });
}

std::string readable(std::string_view metric) {
  std::string text(metric);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

std::string training_charts(const RunRecord& record) {
  std::vector<std::string> names = record.metric_names();
  std::erase_if(names, [](const std::string& name) { return !is_drawn(name); });
  const std::vector<double> resumes = resumes_of(record);
  std::string html;
  for (const Group& group : groups()) {
    chart::LineChart drawn{.title = group.title, .y = {.title = group.unit, .spacing = group.spacing}, .lines = {}};
    for (const std::string_view pattern : group.metrics) {
      for (const std::string& name : names) {
        if (matches(pattern, name)) drawn.lines.push_back(line_of(record, name, readable(name)));
      }
      std::erase_if(names, [&](const std::string& name) { return matches(pattern, name); });
    }
    html += figure_of(std::move(drawn), resumes);
  }
  for (const std::string& name : names)
    html += figure_of({.title = readable(name), .lines = {line_of(record, name, readable(name))}}, resumes);
  return html;
}

std::optional<std::pair<std::string, std::string>> metric_of_class(std::string_view name) {
  const size_t slash = name.find('/');
  if (!is_evaluation(name) || slash == std::string_view::npos) return std::nullopt;
  return std::pair(std::string(name.substr(0, slash)), std::string(name.substr(slash + 1)));
}

std::vector<std::string> evaluation_metrics(const RunRecord& record) {
  std::vector<std::string> names = record.metric_names();
  std::erase_if(names, [](const std::string& name) { return !is_evaluation(name) || metric_of_class(name); });
  const bool has_best = record.state && record.state->best;
  const auto decides = has_best ? std::ranges::find(names, record.state->best->name) : names.end();
  if (decides != names.end()) std::rotate(names.begin(), decides, decides + 1);
  return names;
}

std::string evaluation_charts(const RunRecord& record) {
  std::string html;
  for (const std::string& name : evaluation_metrics(record)) {
    if (is_count(name)) continue;
    const std::string label = readable(std::string_view(name).substr(kEvaluation.size()));
    const chart::Spacing spacing = is_lower_better(name) ? chart::Spacing::kLogarithmicIfWide : chart::Spacing::kLinear;
    html +=
        figure_of({.title = "Evaluation: " + label, .y = {.spacing = spacing}, .lines = {line_of(record, name, label)}},
                  resumes_of(record));
  }
  return html;
}

}  // namespace deberta::train
