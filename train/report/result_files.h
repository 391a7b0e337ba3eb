// The results of a run in the form of the Hugging Face scripts, for programs that read those.
#pragma once
#include "base/json.h"
#include "train/report/run_record.h"

namespace deberta::train {

constexpr const char* kTrainResultsName = "train_results.json";
constexpr const char* kEvaluationResultsName = "eval_results.json";
constexpr const char* kTrainerStateName = "trainer_state.json";

// The training part of all_results.json, with train_loss (the last in the log) and train_samples; and its evaluation
// part. Both require `record.results`.
Json train_results(const RunRecord& record);
Json evaluation_results(const RunRecord& record);

// In the form of transformers' TrainerState, with every line of the log. Members that a run does not have are null.
Json trainer_state(const RunRecord& record);

}  // namespace deberta::train
