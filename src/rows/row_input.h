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

// Whether at least half of the tokens, without those around the texts, are `unk`, the unknown token.
bool are_mostly_unknown(std::span<const Encoding> encodings, int32_t unk);

// By encode_input(). The tokenizer must outlive it.
EncodeRow row_encoder(const Tokenizer& tokenizer, const SequenceRules& rules);

}  // namespace deberta
