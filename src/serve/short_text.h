// The short texts that the explorer takes: what is shown of a text is much larger than the text.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "serve/answering.h"
#include "serve/body.h"

namespace deberta::serve {

// The most tokens of a text whose attention terms in so many layers take at most `bytes`.
size_t most_term_tokens(const ModelConfig& config, int64_t layers, size_t bytes);

// The most rows of logits of the whole vocabulary in `bytes`; at least one.
size_t most_word_rows(const ModelConfig& config, size_t bytes);

// Longer texts are refused.
EncodingRules short_text_rules(size_t most_tokens);

// The fields `text`, which is needed, and `text_pair`, where it is read.
struct ShortText {
  std::string text;
  std::optional<std::string> pair = {};
};
ShortText read_text(Body& body);
ShortText read_text_or_pair(Body& body);

// Throws kValidation with the field of a text that is refused.
Encoding encode_short(const ServedModel& model, const Body& body, const ShortText& text, const EncodingRules& rules);

}  // namespace deberta::serve
