// The page from top to bottom: tiles, warnings, charts, evaluations, checkpoints, options.
#include "train/report/run_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "chart/page.h"
#include "chart/text.h"
#include "deberta/library.h"
#include "train/report/charts.h"
#include "train/report/prediction_tables.h"
#include "train/report/signal_chart.h"
#include "train/report/text.h"
#include "train/state/checkpoint_folder.h"

namespace deberta::train {
namespace {

using chart::axis_number;
using chart::escape_html;
using chart::exact_number;
using chart::grouped;
using chart::make_page;
using chart::section;
using chart::Table;
using chart::to_html;

// ---- the head of the page

std::string status_of(const RunRecord& record) {
  const int64_t step = record.last_step(), total = record.state ? record.state->total_steps : step;
  const bool is_finished = record.results && !record.is_out_of_time();
  std::string text = is_finished ? "finished" : "not finished";
  if (!record.events.empty() && !is_finished) {
    const RunEvent& last = record.events.back();
    if (last.kind == event::kStopped || last.kind == event::kDiverged || last.kind == event::kOutOfTime)
      text = last.kind;
  }
  return fmt::format("{}, {} of {} steps", text, grouped(step), grouped(std::max(step, total)));
}

std::string tile(const std::string& value, const std::string& what) {
  return fmt::format("<div><b>{}</b><span>{}</span></div>\n", escape_html(value), escape_html(what));
}

std::string tiles(const RunRecord& record) {
  std::string html = tile(grouped(record.last_step()), "steps");
  if (const auto tokens = record.last_value("tokens")) html += tile(axis_number(*tokens), "tokens seen");
  for (const char* name : {"loss", "generator_loss", "discriminator_loss"}) {
    if (const auto value = record.last_value(name)) html += tile(axis_number(*value), "last " + readable(name));
  }
  for (const std::string& name : evaluation_metrics(record)) {
    if (name.find("pieces") != std::string::npos) continue;
    html += tile(axis_number(*record.last_value(name)), "evaluation: " + readable(name.substr(kEvaluation.size())));
  }
  const double seconds = record.seconds();
  if (seconds > 0) html += tile(duration(seconds), "of training steps");
  return "<div class=\"tiles\">\n" + html + "</div>\n";
}

// Events that a reader must not miss, each with the number of times it happened.
std::string warnings(const RunRecord& record) {
  std::vector<std::string> items = record.damage;
  std::map<std::string, size_t> counts;
  std::vector<const RunEvent*> first;
  for (const RunEvent& event : record.events) {
    const bool is_normal = event.kind == event::kBegan || event.kind == event::kResumed ||
                           event.kind == event::kStopped || event.kind == event::kOutOfTime ||
                           event.kind == event::kFinished;
    if (!is_normal && counts[event.kind]++ == 0) first.push_back(&event);
  }
  for (const RunEvent* event : first) {
    const size_t times = counts[event->kind];
    items.push_back(fmt::format("{}{} (step {}{})", event->kind, event->text.empty() ? "" : ": " + event->text,
                                grouped(event->step), times > 1 ? fmt::format(", the first of {} times", times) : ""));
  }
  if (items.empty()) return "";
  std::string html = "<div class=\"warnings\"><b>What to know about this run</b><ul>\n";
  for (const std::string& item : items) html += fmt::format("<li>{}</li>\n", escape_html(item));
  return html + "</ul></div>\n";
}

// ---- tables

std::string evaluation_table(const RunRecord& record) {
  Table table{.header = {"metric", "last", "best", "step of the best", "evaluations"}, .rows = {}};
  for (const std::string& name : evaluation_metrics(record)) {
    const std::vector<Point> points = record.series(name);
    const bool is_count = name.find("pieces") != std::string::npos || name.ends_with("words");
    const Point* best = nullptr;
    for (const Point& point : points) {
      if (!std::isfinite(point.value)) continue;
      const bool is_better =
          best == nullptr || (is_lower_better(name) ? point.value < best->value : point.value > best->value);
      if (is_better) best = &point;
    }
    const bool has_best = best != nullptr && !is_count && points.size() > 1;
    table.rows.push_back({escape_html(readable(name.substr(kEvaluation.size()))), exact_number(points.back().value),
                          has_best ? exact_number(best->value) : "", has_best ? grouped(best->step) : "",
                          grouped(static_cast<int64_t>(points.size()))});
  }
  return to_html(table);
}

// The last evaluation of each class.
std::string class_table(const RunRecord& record) {
  Table table{.header = {"class"}, .rows = {}};
  std::vector<std::string> metrics, classes;
  const auto index_of = [](std::vector<std::string>& names, const std::string& name) {
    const auto match = std::ranges::find(names, name);
    if (match != names.end()) return static_cast<size_t>(match - names.begin());
    names.push_back(name);
    return names.size() - 1;
  };
  std::map<std::pair<size_t, size_t>, std::string> cells;
  for (const std::string& name : record.metric_names()) {
    const auto of_class = metric_of_class(name);
    if (!of_class) continue;
    const size_t row = index_of(classes, of_class->second), column = index_of(metrics, of_class->first);
    cells[{row, column}] = exact_number(*record.last_value(name));
  }
  for (const std::string& metric : metrics)
    table.header.push_back(escape_html(readable(metric.substr(kEvaluation.size()))));
  for (size_t row = 0; row < classes.size(); ++row) {
    std::vector<std::string>& line = table.rows.emplace_back(1, escape_html(classes[row]));
    for (size_t column = 0; column < metrics.size(); ++column) line.push_back(cells[{row, column}]);
  }
  return to_html(table);
}

std::string checkpoint_table(const RunRecord& record) {
  const std::optional<BestMetric> best = best_checkpoint(record);
  Table table{.header = {"checkpoint", "step", ""}, .rows = {}};
  for (const int64_t step : record.checkpoints) {
    std::string remark;
    if (best && best->step == step)
      remark = fmt::format("<span class=\"badge\">best</span> {} {}", escape_html(readable(best->name)),
                           exact_number(best->value));
    if (step == record.checkpoints.front()) remark += remark.empty() ? "newest" : ", newest";
    table.rows.push_back({fmt::format("<code>{}</code>", checkpoint_name(step)), grouped(step), remark});
  }
  return to_html(table);
}

std::string event_table(const RunRecord& record) {
  Table table{.header = {"time", "step", "what", ""}, .rows = {}};
  for (const RunEvent& event : record.events)
    table.rows.push_back({utc_time(event.time), grouped(event.step), escape_html(event.kind), escape_html(event.text)});
  return to_html(table);
}

std::string pairs_table(const std::vector<std::pair<std::string, std::string>>& pairs) {
  Table table{.header = {}, .rows = {}, .style = "pairs"};
  for (const auto& [name, value] : pairs) {
    if (!value.empty()) table.rows.push_back({escape_html(name), fmt::format("<code>{}</code>", escape_html(value))});
  }
  return to_html(table);
}

std::string deciding_options_part(const RunRecord& record) {
  if (!record.state) return "";
  return section("Options that decide the result",
                 pairs_table({record.state->options.begin(), record.state->options.end()}));
}

std::string origin_part(const RunRecord& record) {
  std::vector<std::pair<std::string, std::string>> pairs;
  if (const RunEvent* start = record.last_start()) pairs = start->details;
  if (record.state) {
    pairs.emplace_back("seed", std::to_string(record.state->seed));
    for (const auto& [name, hash] : record.state->hashes) pairs.emplace_back("SHA-256 of " + name, hash);
  }
  return section("Data and origin", pairs_table(pairs));
}

std::string charts(const std::string& figures) {
  return figures.empty() ? "" : "<div class=\"charts\">\n" + figures + "</div>\n";
}

}  // namespace

std::string objective_of(const RunRecord& record) {
  const std::string task = record.option("task"), objective = record.option("objective");
  if (!task.empty()) return "fine-tuning on " + task;
  if (objective == "causal") return "causal language model";
  if (objective == "mlm") return "masked language model";
  if (objective == "rtd") return "replaced-token detection";
  return objective;
}

std::optional<BestMetric> best_checkpoint(const RunRecord& record) {
  if (record.state && record.state->best) return record.state->best;
  std::optional<BestMetric> best;
  for (const LoggedLine& line : record.log) {
    const bool is_kept =
        std::find(record.checkpoints.begin(), record.checkpoints.end(), line.step) != record.checkpoints.end();
    if (!is_kept || line.metrics.empty()) continue;
    const auto& [name, value] = line.metrics.front();
    if (!name.starts_with(kEvaluation) || !std::isfinite(value) || (best && best->name != name)) continue;
    const bool is_better = !best || (is_lower_better(name) ? value < best->value : value > best->value);
    if (is_better) best = BestMetric{name, value, line.step};
  }
  return best;
}

std::string make_run_page(const RunRecord& record, const std::optional<PredictedRows>& predictions,
                          std::span<const RunRecord> others) {
  const std::string objective = objective_of(record);
  const double last_time = record.log.empty() ? 0 : record.log.back().time;
  const std::string when = last_time > 0 ? "; last line of the log: " + utc_time(last_time) : "";
  std::string body = fmt::format("<h1>{}</h1>\n<p class=\"subtitle\">{}{}{}</p>\n", escape_html(record.name()),
                                 escape_html(objective.empty() ? "" : objective + "; "), escape_html(status_of(record)),
                                 escape_html(when));
  body += tiles(record) + warnings(record);
  body += section("Training", charts(training_charts(record) + signal_chart(record, others)));
  body += section("Evaluation", charts(evaluation_charts(record)) + evaluation_table(record) + class_table(record));
  if (predictions) body += section("Answers of the evaluation", prediction_tables(*predictions));
  body += "<div class=\"columns\">\n" + section("Checkpoints", checkpoint_table(record)) +
          section("What happened", event_table(record)) + deciding_options_part(record) + origin_part(record) +
          "</div>\n";
  body += fmt::format("<footer>Made by deberta {} from the files of the run.</footer>\n", version());
  return make_page(record.name() + ": report of a run", body);
}

}  // namespace deberta::train
