// Rows as the inputs of tasks, and what encodes them ahead.
#pragma once
#include <span>
#include <vector>

#include "deberta/pipeline.h"
#include "rows/read_ahead.h"
#include "rows/row.h"

namespace deberta {

TextInput text_input(const Row& row);
std::vector<TextInput> text_inputs(std::span<const Row> rows);

// For tasks that run one sequence per input. The tokenizer must outlive it.
EncodeRow row_encoder(const Tokenizer& tokenizer, const EncodingRules& rules);

// For tasks that run several: by the encode_input of their options.
template <class TaskOptions>
EncodeRow row_encoder(const Tokenizer& tokenizer, const TaskOptions& task) {
  return [&tokenizer, task](const Row& row) { return encode_input(tokenizer, text_input(row), task); };
}

}  // namespace deberta
