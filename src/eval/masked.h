// Masked language models: a fixed sample of the pieces of texts, guessed.
#pragma once
#include "eval/answered_rows.h"
#include "eval/eval_hooks.h"
#include "eval/example_files.h"
#include "metrics/task_table.h"
#include "pipeline/masked_sample.h"

namespace deberta {

struct MaskedSettings {
  ExampleInput input;
  MaskedSampleRules sample = {};
};

// The model is opened first: there are no predictions in files. Throws kTask for a model without the head.
AnsweredRows answer_masked(const TaskRow& task, const MaskedSettings& settings, const OpenModel& open_model,
                           const EvalHooks& hooks = {});

}  // namespace deberta
