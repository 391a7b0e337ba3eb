// Means, standard errors and paired differences, then the table as Markdown and as a page with dot charts.
#include "train/ablation/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "chart/chart.h"
#include "chart/page.h"
#include "chart/text.h"
#include "train/report/charts.h"
#include "train/report/text.h"

namespace deberta::train {
namespace {

using chart::axis_number;
using chart::escape_html;
using chart::make_page;
using chart::section;
using chart::Table;
using chart::to_html;

constexpr const char* kMean = "mean of tasks";

double mean_of_tasks(const CellResult& result) {
  double sum = 0;
  for (const auto& [task, value] : result.tasks) sum += value;
  return sum / static_cast<double>(result.tasks.size());
}

const double* find_value(const CellResult& result, const std::string& column) {
  for (const auto* numbers : {&result.tasks, &result.pretraining}) {
    for (const auto& [name, value] : *numbers) {
      if (name == column) return &value;
    }
  }
  return nullptr;
}

bool is_count(const std::string& name) {
  return name.find("pieces") != std::string::npos || name.ends_with("words") || name.ends_with("rows");
}

std::vector<std::string> columns_of(const Plan& plan, const std::vector<CellResult>& results) {
  std::vector<std::string> columns;
  for (const CellResult& result : results) {
    for (const auto& [name, value] : result.pretraining) {
      if (!is_count(name) && std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
    }
  }
  for (const PlanTask& task : plan.tasks) columns.push_back(task.name);
  if (plan.tasks.size() > 1) columns.emplace_back(kMean);
  return columns;
}

// NaN: the result has none.
double value_of(const CellResult& result, const std::string& column) {
  if (column == kMean && !result.tasks.empty()) return mean_of_tasks(result);
  const double* value = find_value(result, column);
  return value == nullptr ? std::numeric_limits<double>::quiet_NaN() : *value;
}

std::vector<const CellResult*> of_form(const std::vector<CellResult>& results, const std::string& form) {
  std::vector<const CellResult*> matches;
  for (const CellResult& result : results) {
    if (result.form == form) matches.push_back(&result);
  }
  return matches;
}

Estimate estimate_of(const std::vector<const CellResult*>& results, double CellResult::*member) {
  std::vector<double> values;
  for (const CellResult* result : results) values.push_back(result->*member);
  return estimate(values);
}

Estimate difference_of(const std::vector<const CellResult*>& results, const std::vector<const CellResult*>& reference,
                       const std::string& column) {
  std::vector<double> values;
  for (const CellResult* result : results) {
    for (const CellResult* counterpart : reference) {
      const double difference = value_of(*result, column) - value_of(*counterpart, column);
      if (result->seed == counterpart->seed && std::isfinite(difference)) values.push_back(difference);
    }
  }
  return estimate(values);
}

std::string number(double value) {
  return std::abs(value) >= 1000 ? fmt::format("{:.0f}", value)
         : std::abs(value) >= 10 ? fmt::format("{:.2f}", value)
                                 : fmt::format("{:.4f}", value);
}

std::string cell(const Estimate& estimate, bool has_sign = false) {
  if (estimate.count == 0) return "";
  std::string text = (has_sign && estimate.mean >= 0 ? "+" : "") + number(estimate.mean);
  if (estimate.count > 1) text += " ± " + number(estimate.error);
  return text;
}

bool has_pretraining(const Summary& summary) {
  return std::any_of(summary.rows.begin(), summary.rows.end(),
                     [](const SummaryRow& row) { return row.tokens.mean > 0; });
}

// The last columns of the table: the cost of a form. Plans that only fine-tune have no tokens or FLOPs of pre-training.
std::vector<std::string> cost_names(const Summary& summary) {
  if (!has_pretraining(summary)) return {"seeds", "time"};
  return {"seeds", "tokens", "FLOPs", "time"};
}

std::vector<std::string> costs_of(const Summary& summary, const SummaryRow& row) {
  std::vector<std::string> costs{std::to_string(row.seconds.count)};
  if (has_pretraining(summary))
    costs.insert(costs.end(), {axis_number(row.tokens.mean), fmt::format("{:.2e}", row.flops.mean)});
  costs.push_back(duration(row.seconds.mean));
  return costs;
}

// A dot for each form, a line of two standard errors to either side.
std::string draw_column(const Summary& summary, size_t column) {
  const std::string name = readable(summary.columns[column]);
  chart::DotChart drawn{.title = name,
                        .x = {.title = fmt::format("mean, two standard errors; {} is better",
                                                   is_lower_better(summary.columns[column]) ? "lower" : "higher")},
                        .labels = {},
                        .series = {{}},
                        .width = chart::kFigureWidth};
  bool is_any = false;
  for (const SummaryRow& row : summary.rows) {
    const Estimate& value = row.values[column];
    drawn.labels.push_back(row.form);
    chart::Dot& dot = drawn.series.front().values.emplace_back();
    if (value.count == 0) continue;
    dot = {.value = value.mean, .reach = 2 * value.error, .about = cell(value)};
    is_any = is_any || std::isfinite(value.mean);
  }
  return is_any ? svg_figure(chart::draw(drawn)) : "";
}

// A bar for what each model of a form was trained on: the last point of its line.
std::string draw_signal(const Summary& summary) {
  chart::BarChart drawn{.title = "Positions with a loss",
                        .x_title = "positions, in the run of one seed",
                        .labels = {},
                        .series = {},
                        .width = chart::kFigureWidth};
  for (const SummaryRow& row : summary.rows) drawn.labels.push_back(row.form);
  const std::vector<double> none(drawn.labels.size(), chart::kMissing);
  for (size_t i = 0; i < summary.rows.size(); ++i) {
    for (const chart::Line& line : summary.rows[i].signal) {
      auto bars = std::ranges::find(drawn.series, line.name, &chart::Bars::name);
      if (bars == drawn.series.end()) bars = drawn.series.insert(bars, chart::Bars{.name = line.name, .values = none});
      bars->values[i] = line.points.back().y;
    }
  }
  return drawn.series.empty() ? "" : svg_figure(chart::draw(drawn));
}

}  // namespace

Estimate estimate(const std::vector<double>& values) {
  Estimate result{.count = values.size()};
  if (values.empty()) return result;
  for (const double value : values) result.mean += value / static_cast<double>(values.size());
  if (values.size() == 1) {
    result.error = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  double squares = 0;
  for (const double value : values) squares += (value - result.mean) * (value - result.mean);
  const auto count = static_cast<double>(values.size());
  result.error = std::sqrt(squares / (count - 1) / count);
  return result;
}

Summary summarize(const Plan& plan, const std::vector<CellResult>& results) {
  Summary summary{.reference = plan.reference, .columns = columns_of(plan, results), .rows = {}};
  const std::vector<const CellResult*> reference = of_form(results, plan.reference);
  for (const PlanForm& form : plan.forms) {
    summary.cells += form.seeds.size();
    const std::vector<const CellResult*> form_results = of_form(results, form.name);
    if (form_results.empty()) continue;
    summary.finished += form_results.size();
    SummaryRow row{.form = form.name, .about = form.about};
    for (const std::string& column : summary.columns) {
      std::vector<double> values;
      for (const CellResult* result : form_results) {
        const double value = value_of(*result, column);
        if (std::isfinite(value)) values.push_back(value);
      }
      row.values.push_back(estimate(values));
      row.differences.push_back(form.name == plan.reference ? Estimate()
                                                            : difference_of(form_results, reference, column));
    }
    row.tokens = estimate_of(form_results, &CellResult::tokens);
    row.flops = estimate_of(form_results, &CellResult::flops);
    row.seconds = estimate_of(form_results, &CellResult::seconds);
    summary.rows.push_back(std::move(row));
  }
  return summary;
}

bool is_beyond_two_errors(const Estimate& difference) {
  return difference.count > 1 && std::abs(difference.mean) > 2 * difference.error;
}

Json to_json(const Summary& summary) {
  const auto json_of = [](const Estimate& estimate) {
    JsonObject object{{"count", static_cast<uint64_t>(estimate.count)}};
    if (estimate.count > 0) object.emplace_back("mean", estimate.mean);
    if (estimate.count > 1) object.emplace_back("error", estimate.error);
    return object;
  };
  JsonArray rows;
  for (const SummaryRow& row : summary.rows) {
    JsonArray values, differences;
    for (const Estimate& estimate : row.values) values.emplace_back(json_of(estimate));
    for (const Estimate& estimate : row.differences) differences.emplace_back(json_of(estimate));
    rows.emplace_back(JsonObject{{"form", row.form},
                                 {"about", row.about},
                                 {"tokens", json_of(row.tokens)},
                                 {"flops", json_of(row.flops)},
                                 {"seconds", json_of(row.seconds)},
                                 {"values", values},
                                 {"differences", differences}});
  }
  return JsonObject{{"reference", summary.reference},
                    {"columns", JsonArray(summary.columns.begin(), summary.columns.end())},
                    {"cells", static_cast<uint64_t>(summary.cells)},
                    {"finished", static_cast<uint64_t>(summary.finished)},
                    {"rows", rows}};
}

std::string markdown_of(const Summary& summary) {
  std::string text = "| form |", line = "|---|";
  for (const std::string& column : summary.columns)
    text += " " + escape_markdown(readable(column)) + " |", line += "---|";
  std::string costs_line;
  for (const std::string& name : cost_names(summary)) text += " " + name + " |", costs_line += "---|";
  text += "\n" + line + costs_line + "\n";
  for (const SummaryRow& row : summary.rows) {
    text += "| " + escape_markdown(row.form) + " |";
    for (const Estimate& value : row.values) text += " " + cell(value) + " |";
    for (const std::string& cost : costs_of(summary, row)) text += " " + cost + " |";
    text += "\n";
  }
  text += fmt::format("\nDifferences from {} of the same seed; * beyond two standard errors:\n\n| form |",
                      escape_markdown(summary.reference));
  for (const std::string& column : summary.columns) text += " " + escape_markdown(readable(column)) + " |";
  text += "\n" + line + "\n";
  for (const SummaryRow& row : summary.rows) {
    if (row.form == summary.reference) continue;
    text += "| " + escape_markdown(row.form) + " |";
    for (const Estimate& value : row.differences)
      text += " " + cell(value, true) + (is_beyond_two_errors(value) ? " *" : "") + " |";
    text += "\n";
  }
  return text;
}

std::string page_of(const Summary& summary, const std::string& title) {
  Table values{.header = {"form"}, .rows = {}, .style = "wide"};
  Table differences{.header = {"form"}, .rows = {}, .style = "wide"};
  for (const std::string& column : summary.columns) {
    values.header.push_back(escape_html(readable(column)));
    differences.header.push_back(escape_html(readable(column)));
  }
  for (const std::string& name : cost_names(summary)) values.header.push_back(name);
  Table forms{.header = {"form", "what it is"}, .rows = {}, .style = "pairs"};
  for (const SummaryRow& row : summary.rows) {
    std::vector<std::string> value_cells{escape_html(row.form)}, difference_cells = value_cells;
    for (size_t i = 0; i < summary.columns.size(); ++i) {
      value_cells.push_back(cell(row.values[i]));
      const bool is_clear = is_beyond_two_errors(row.differences[i]);
      difference_cells.push_back(cell(row.differences[i], true) + (is_clear ? " <b>*</b>" : ""));
    }
    for (std::string& cost : costs_of(summary, row)) value_cells.push_back(std::move(cost));
    values.rows.push_back(std::move(value_cells));
    if (row.form != summary.reference) differences.rows.push_back(std::move(difference_cells));
    forms.rows.push_back({escape_html(row.form), escape_html(row.about)});
  }
  std::string charts;
  for (size_t column = 0; column < summary.columns.size(); ++column) charts += draw_column(summary, column);
  charts += draw_signal(summary);
  const std::string body =
      fmt::format("<p>{} of {} runs are finished. Values are means over seeds ± their standard error.</p>\n",
                  summary.finished, summary.cells) +
      to_html(values) +
      section("Differences from " + summary.reference + ", seed by seed; * beyond two standard errors",
              to_html(differences)) +
      section("Charts", charts.empty() ? "" : "<div class=\"charts\">\n" + charts + "</div>\n") +
      section("Forms", to_html(forms));
  return make_page(title, body);
}

}  // namespace deberta::train
