// A text in lower case with the way back to the original, for tokenizers with do_lower_case. No published DeBERTa uses
// it.
#pragma once
#include <string_view>

#include "text/mapped_text.h"
#include "text/special_tokens.h"

namespace deberta {

// Each character alone (no final sigma), added tokens that are special or "normalized" kept when `keep` is given.
MappedText to_lower_text(std::string_view text, const SpecialTokens* keep);

}  // namespace deberta
