// Rows as the inputs of tasks, and what encodes them ahead.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "deberta/pipeline.h"
#include "rows/read_ahead.h"
#include "rows/row.h"

namespace deberta {

TextInput text_input(const Row& row);
std::vector<TextInput> text_inputs(std::span<const Row> rows);

// Whether at least half of the characters, and three, stand in no piece of the vocabulary: those of the unknown token,
// and those beyond ASCII that are read as bytes.
bool are_mostly_unknown(std::span<const Encoding> encodings, const std::function<bool(int32_t id)>& is_unknown);
std::function<bool(int32_t id)> unknown_ids(const Tokenizer& tokenizer);  // which must outlive it

// By encode_input(). The tokenizer must outlive it.
EncodeRow row_encoder(const Tokenizer& tokenizer, const SequenceRules& rules);

}  // namespace deberta
