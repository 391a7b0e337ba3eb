// Texts with entities, found by a model that reads their labels (GLiNER).
#pragma once
#include <string>
#include <vector>

#include "deberta/pipeline.h"
#include "eval/answered_rows.h"
#include "eval/entity_files.h"
#include "eval/eval_hooks.h"
#include "metrics/task_table.h"

namespace deberta {

struct EntitySettings {
  EntityFiles input;
  ExtractOptions options = {};  // its labels are those of the files, but for rows that have labels of their own
};

// The labels that are put before a row: its own with those of its entities, else all.
std::vector<std::string> labels_of(const EntityRow& row, const std::vector<std::string>& all);

// The model is opened when the files have been read. Throws kTask for a model without the head, kInput for files
// without entities.
AnsweredRows answer_entities(const TaskRow& task, const EntitySettings& settings, const OpenModel& open_model,
                             const EvalHooks& hooks = {});

// The first half of answer_entities(): reads the files. Throws what it throws of them, and the error of a bad row
// unless those are reported.
EntityRows check_entity_files(const EntityFiles& files, const EvalHooks& hooks = {});

}  // namespace deberta
