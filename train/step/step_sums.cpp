// Adds the results of one step to named sums, and divides them when a line is logged.
#include "train/step/step_sums.h"

#include <cmath>

namespace deberta::train {
namespace {

constexpr const char* kLossScale = "loss_scale";

}  // namespace

void add_to_sums(const StepResult& result, double rate, Sums& sums, const std::string& prefix) {
  sums[prefix + "loss"] += result.loss;
  sums[prefix + "labels"] += static_cast<double>(result.count);
  sums[prefix + "divisor"] += result.divisor;
  sums[prefix + "correct"] += static_cast<double>(result.correct);
  sums[prefix + "grad_norm"] += result.norm;
  sums[prefix + "learning_rate"] = rate;
  if (result.loss_scale > 0) sums[prefix + kLossScale] = result.loss_scale;
}

StepReport report_of(const StepResult& result, std::span<const TrainBatch> batches) {
  StepReport report{.is_finite = result.is_finite};
  for (const TrainBatch& batch : batches) {
    report.samples += static_cast<int64_t>(batch.sequences());
    report.tokens += static_cast<int64_t>(batch.tokens());
  }
  return report;
}

Metrics language_metrics(const Sums& sums, const std::string& prefix) {
  const std::string labels = prefix + "labels", norm = prefix + "grad_norm", rate = prefix + "learning_rate";
  const double loss = ratio_of(sums, prefix + "loss", labels);
  Metrics metrics{{prefix + "loss", loss},
                  {prefix + "perplexity", std::exp(loss)},
                  {prefix + "accuracy", ratio_of(sums, prefix + "correct", labels)},
                  {norm, ratio_of(sums, norm, "steps")},
                  {rate, sum_of(sums, rate)},
                  {labels + "_per_step", ratio_of(sums, labels, "steps")}};
  add_loss_scale(sums, prefix, metrics);
  return metrics;
}

void add_loss_scale(const Sums& sums, const std::string& prefix, Metrics& metrics) {
  const double scale = sum_of(sums, prefix + kLossScale);
  if (scale > 0) metrics.emplace_back(prefix + kLossScale, scale);
}

}  // namespace deberta::train
