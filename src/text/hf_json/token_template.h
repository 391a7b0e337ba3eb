// The special tokens around a text and a pair, as the post_processor of a tokenizer.json specifies them.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/json.h"

namespace deberta {

// [CLS] A [SEP], and [CLS] A [SEP] B [SEP] or [CLS] A [SEP] [SEP] B [SEP].
struct TokenTemplate {
  int32_t cls = 0;
  int32_t sep = 0;
  bool doubles_separator = false;  // between the texts of a pair
  int32_t second_type = 1;         // type of the second text and its [SEP]
};

// Throws kUnsupported for any other form, including nothing around a text; kTokenizerFile for wrong shapes.
TokenTemplate read_token_template(const Json& post_processor, const std::string& where);

}  // namespace deberta
