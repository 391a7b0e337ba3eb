// What is asked of the path of a model directory before it is opened.
#pragma once
#include <string>

#include "deberta/checkpoint.h"
#include "deberta/model.h"
#include "deberta/tokenizer.h"

namespace deberta {

// What a verb says of a model whose head is not its own: kTask with the verbs that take it.
[[noreturn]] void refuse_head(const std::string& verb, const std::string& expected, const Model& model);

// For verbs that make pairs of texts themselves. kUnsupported for a tokenizer with another template.
void check_plain_pairs(const std::string& verb, const Tokenizer& tokenizer);

// kFileNotFound with the remedy when `path` is empty or no directory.
void check_model_directory(const std::string& path);

}  // namespace deberta
