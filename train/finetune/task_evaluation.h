// A model in fine-tuning on labelled files, as `deberta eval` scores the same model on the same files.
#pragma once
#include <optional>

#include "data/examples.h"
#include "eval/tags.h"
#include "train/finetune/settings.h"
#include "train/model/model.h"
#include "train/step/workplace.h"

namespace deberta::train {

// How the files of a task with tags are evaluated.
TagSettings tag_settings(const TaskFiles& settings);

// Why a text cannot be read in windows, where it is to be: any other is cut.
std::optional<Error> error_of_windows(const TaskFiles& settings, const Tokenizer& tokenizer, const Example& example);

// Bad rows were reported before the first step, where they do not fail.
EvalHooks without_bad_rows(const TaskFiles& settings, EvalHooks hooks);

// Reads what is evaluated on, for a model that learns `samples`, as the evaluations will: what is wrong with it is
// found before the first step, and texts of files of its own that are trained on are noted. False once stopped. Throws
// what the evaluations throw.
bool check_evaluation(const TaskFiles& settings, const RunTokenizer& tokenizer, const TaskSamples& samples,
                      const RunHooks& hooks);

// Nothing without files, and once stopped. Throws what the evaluations of src/eval throw.
Metrics evaluate_task(Model& model, const TaskFiles& settings, const RunTokenizer& tokenizer,
                      const Workplace& workplace, const RunHooks& hooks);

}  // namespace deberta::train
