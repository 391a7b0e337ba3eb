// What a function requires of its model and tokenizer.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "deberta/model.h"
#include "deberta/tokenizer.h"

namespace deberta {

// The error of a verb for a model with a different head: kTask with the verbs that accept the model.
[[noreturn]] void refuse_head(const std::string& verb, const std::string& expected, const Model& model);

// Throws what refuse_head() throws, unless the head classifies sequences.
void check_sequence_head(const std::string& verb, const Model& model,
                         const std::string& expected = "sequence classification");

// The class, 0 or 1, that says that a choice is right: by the names of both, or the second of two without names. None
// for other counts and names.
std::optional<size_t> yes_class(const Model& model);

// For verbs that build pairs of texts themselves. kUnsupported for a tokenizer with another template.
void check_plain_pairs(const std::string& verb, const Tokenizer& tokenizer);

}  // namespace deberta
