// What a function requires of its model and tokenizer.
#pragma once
#include <string>

#include "deberta/model.h"
#include "deberta/tokenizer.h"

namespace deberta {

// The error of a verb for a model with a different head: kTask with the verbs that accept the model.
[[noreturn]] void refuse_head(const std::string& verb, const std::string& expected, const Model& model);

// For verbs that make pairs of texts themselves. kUnsupported for a tokenizer with another template.
void check_plain_pairs(const std::string& verb, const Tokenizer& tokenizer);

}  // namespace deberta
