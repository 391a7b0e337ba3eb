// Language models: predicting a fixed sample of masked pieces of texts, or every piece from those before it.
#pragma once
#include <cstdint>
#include <optional>

#include "eval/answered_rows.h"
#include "eval/eval_hooks.h"
#include "eval/example_files.h"
#include "eval/held_out_rows.h"
#include "metrics/task_table.h"
#include "pipeline/predicted_pieces.h"

namespace deberta {

struct LanguageModelSettings {
  ExampleInput input;                         // a text a line, without held-out documents
  std::optional<HeldOutLines> held_out = {};  // their lines, instead of `input`
  MaskedSampleRules sample = {};              // the share and the seed are those of masks
};

// `task` is of the kind kMasked or kNextPiece. The model is opened first: predictions cannot come from files. Throws
// kTask for a model without the head, or one that reads the other way.
AnsweredRows answer_language_model(const TaskRow& task, const LanguageModelSettings& settings,
                                   const OpenModel& open_model, const EvalHooks& hooks = {});

}  // namespace deberta
