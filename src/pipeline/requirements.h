// What a function asks of the model and the tokenizer that it is given.
#pragma once
#include <string>

#include "deberta/model.h"
#include "deberta/tokenizer.h"

namespace deberta {

// What a verb says of a model whose head is not its own: kTask with the verbs that take it.
[[noreturn]] void refuse_head(const std::string& verb, const std::string& expected, const Model& model);

// For verbs that make pairs of texts themselves. kUnsupported for a tokenizer with another template.
void check_plain_pairs(const std::string& verb, const Tokenizer& tokenizer);

}  // namespace deberta
