// A model's answers to labelled rows, group by group while the next rows are being read.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "deberta/pipeline.h"
#include "eval/answered_rows.h"
#include "eval/eval_hooks.h"
#include "rows/read_ahead.h"
#include "rows/row_taker.h"

namespace deberta {

// Throws kUsage when there is neither a model nor a file of predictions.
const Pipeline& opened(const OpenModel& open_model);

// Answers all rows of a source, in groups of `batch_tokens`. Throws what reading and `taker` throw, and EvalStopped.
void run_model_rows(const OpenRows& open, EncodeRow encode, size_t batch_tokens, RowTaker taker,
                    const EvalHooks& hooks);

// The model's names for its classes, or `label_map`; LABEL_0 and so on if it has none. Throws kTask for a map of
// another size.
std::vector<std::string> class_names(const Pipeline& pipeline, const std::vector<std::string>& label_map);

}  // namespace deberta
