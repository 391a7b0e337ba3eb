// What steps add to the sums of a log, and the metrics that follow from them.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "train/objectives/batch.h"
#include "train/run/learner.h"
#include "train/run/sums.h"
#include "train/step/trainer.h"

namespace deberta::train {

// Names begin with `prefix`.
void add_to_sums(const StepResult& result, double rate, Sums& sums, const std::string& prefix = "");

StepReport report_of(const StepResult& result, std::span<const TrainBatch> batches);

// The scale of the losses, where they are scaled.
void add_loss_scale(const Sums& sums, const std::string& prefix, Metrics& metrics);

// Those of a language model, whose sums and metrics have the prefix: loss, perplexity and accuracy by label; norm and
// rate.
Metrics language_metrics(const Sums& sums, const std::string& prefix = "");

}  // namespace deberta::train
