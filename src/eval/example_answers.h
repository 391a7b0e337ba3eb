// A model's answers to examples. Internal to this room.
#pragma once
#include <optional>
#include <vector>

#include "deberta/pipeline.h"
#include "eval/answered_rows.h"
#include "eval/eval_hooks.h"
#include "eval/examples.h"
#include "metrics/task_rows.h"

namespace deberta {

using TaskAnswers = std::vector<std::optional<TaskAnswer>>;

// Reads the examples of all files into `rows` and answers them with the head that the task requires. Throws kTask for
// another head and for classes that are not the task's labels, before any row is read.
// `findings`: those of the settings' rates.
TaskAnswers answer_rows(const ExampleSettings& settings, const Pipeline& pipeline, TaskRows& rows, CutRows& cut,
                        FindingRules& findings, const EvalHooks& hooks);

}  // namespace deberta
