// The table of a plan: means over seeds, standard errors, and differences from the reference seed by seed.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "chart/chart.h"
#include "train/ablation/plan.h"
#include "train/ablation/results.h"

namespace deberta::train {

struct Estimate {
  size_t count = 0;
  double mean = 0;
  double error = 0;  // standard error of the mean: sample deviation / sqrt(count); NaN for one value
};
Estimate estimate(const std::vector<double>& values);

struct SummaryRow {
  std::string form;
  std::string about;
  std::vector<Estimate> values = {};  // one for each column; count 0: none
  // From the reference, of the seeds that both have; count 0: none, or it is the reference.
  std::vector<Estimate> differences = {};
  Estimate tokens = {}, flops = {}, seconds = {};
  std::vector<chart::Line> signal = {};  // positions with a loss, of one seed (report/signal_chart.h); may be empty
};

struct Summary {
  std::string reference;
  std::vector<std::string> columns;  // the last evaluation of pre-training, then the tasks, then their mean
  std::vector<SummaryRow> rows;      // in the plan's order; forms without a result are left out
  size_t cells = 0, finished = 0;
};

Summary summarize(const Plan& plan, const std::vector<CellResult>& results);

// A win or a loss is one beyond two standard errors of the paired difference.
bool is_beyond_two_errors(const Estimate& difference);

// {"columns": [..], "rows": [{"form", "values": [{"mean", "error", "count"}]..}]}
Json to_json(const Summary& summary);
std::string markdown_of(const Summary& summary);
// One HTML file with a chart for each column, and one of the positions with a loss where there are logs.
std::string page_of(const Summary& summary, const std::string& title);

}  // namespace deberta::train
