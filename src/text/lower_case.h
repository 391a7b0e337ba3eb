// A text in lower case with the way back to the original, for tokenizers with do_lower_case. No published DeBERTa has
// it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "deberta/tokenizer.h"
#include "text/special_tokens.h"

namespace deberta {

struct LowerText {
  std::string text;
  std::vector<Offset> sources;  // for each byte of text the character that it was made from

  // The part of the original text that the range comes from.
  Offset source_of(Offset range, size_t original_size) const;
};

// Each character alone (no final sigma), added tokens that are special or "normalized" kept when `keep` is given.
LowerText to_lower_text(std::string_view text, const SpecialTokens* keep);

}  // namespace deberta
