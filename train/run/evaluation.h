// An evaluation of src/eval within a run.
#pragma once
#include <functional>

#include "eval/answered_rows.h"
#include "train/run/hooks.h"

namespace deberta::train {

using AnswerRows = std::function<AnsweredRows(const EvalHooks& hooks)>;

// A run's progress and stops, as an evaluation takes them.
EvalHooks to_eval_hooks(const RunHooks& hooks);

// Notes a row of a file that is left out.
void note_bad_row(const Error& error, const RunHooks& hooks);

// Metrics as "eval_NAME", one without a value as NaN; nothing once stopped. Throws what `answer` and score() throw.
Metrics score_in_training(const RunHooks& hooks, const AnswerRows& answer);

}  // namespace deberta::train
