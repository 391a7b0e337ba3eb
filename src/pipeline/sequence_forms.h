// The sequences of an input, for each SequenceForm but that of one text or pair: what encode_input() chooses among.
// Each stands in the file of its task.
#pragma once
#include <vector>

#include "deberta/pipeline.h"

namespace deberta {

std::vector<Encoding> encode_hypotheses(const Tokenizer& tokenizer, const TextInput& input, const SequenceRules& rules);
std::vector<Encoding> encode_documents(const Tokenizer& tokenizer, const TextInput& input, const SequenceRules& rules);
std::vector<Encoding> encode_choices(const Tokenizer& tokenizer, const TextInput& input, const SequenceRules& rules);
std::vector<Encoding> encode_context(const Tokenizer& tokenizer, const TextInput& input, const SequenceRules& rules);
std::vector<Encoding> encode_texts(const Tokenizer& tokenizer, const TextInput& input, const SequenceRules& rules);

}  // namespace deberta
