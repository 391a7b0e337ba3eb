// Masked language models: predicting a fixed sample of the pieces of texts.
#pragma once
#include <optional>

#include "eval/answered_rows.h"
#include "eval/eval_hooks.h"
#include "eval/example_files.h"
#include "eval/held_out_rows.h"
#include "metrics/task_table.h"
#include "pipeline/masked_sample.h"

namespace deberta {

struct MaskedSettings {
  ExampleInput input;                         // a text a line, without held-out documents
  std::optional<HeldOutLines> held_out = {};  // their lines, instead of `input`
  MaskedSampleRules sample = {};
};

// The model is opened first: predictions cannot come from files. Throws kTask for a model without the head.
AnsweredRows answer_masked(const TaskRow& task, const MaskedSettings& settings, const OpenModel& open_model,
                           const EvalHooks& hooks = {});

}  // namespace deberta
