// The results of a run in the form of the Hugging Face scripts, for programs that read those.
#pragma once
#include "base/json.h"
#include "train/report/run_record.h"

namespace deberta::train {

constexpr const char* kTrainResultsName = "train_results.json";
constexpr const char* kEvaluationResultsName = "eval_results.json";
constexpr const char* kTrainerStateName = "trainer_state.json";

// Of all_results.json what is of the training, with train_loss (the last of the log) and the rates that follow; and
// what is of the evaluation. `record.results` must be there.
Json train_results(const RunRecord& record);
Json evaluation_results(const RunRecord& record);

// As transformers' TrainerState reads it, with every line of the log. What it asks for and a run has not is null.
Json trainer_state(const RunRecord& record);

}  // namespace deberta::train
