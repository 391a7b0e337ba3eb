// What a fine-tuned model answers to each row of the evaluation, for the report of the run.
#pragma once
#include "deberta/pipeline.h"
#include "train/finetune/settings.h"
#include "train/report/predictions.h"

namespace deberta::train {

// The class or the scores of each text or pair, or the tags of each sentence; nothing for other tasks, and once
// stopped. Rows without a label and bad ones are left out.
std::optional<PredictedRows> predict_rows(const Pipeline& pipeline, const TaskFiles& settings, const RunHooks& hooks);

}  // namespace deberta::train
