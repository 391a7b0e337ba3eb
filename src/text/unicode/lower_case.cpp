// Lower-cases one code point at a time, but leaves special tokens as they are written.
#include "text/unicode/lower_case.h"

#include "base/utf8.h"
#include "text/unicode/unicode.h"

namespace deberta {

MappedText to_lower_text(std::string_view text, const SpecialTokens* keep) {
  std::vector<AddedToken> kept;
  if (keep != nullptr) {
    for (const AddedToken& token : keep->tokens()) {
      if (token.is_special || token.is_normalized) kept.push_back(token);
    }
  }
  const SpecialTokens kept_tokens(std::move(kept));
  MappedText lower;
  for (size_t at = 0; at < text.size();) {
    const size_t kept_size = kept_tokens.prefix_size(text.substr(at));
    const CodePoint point = decode_utf8(text, at);
    const size_t size = kept_size > 0 ? kept_size : point.size_bytes;
    if (kept_size > 0 || !point.is_valid) {
      lower.text += text.substr(at, size);
    } else {
      append_utf8(lower.text, to_lower(point.value));
      if (point.value == kCapitalIWithDot) append_utf8(lower.text, kDotAbove);
    }
    const auto begin = static_cast<uint32_t>(at);
    at += size;
    while (lower.sources.size() < lower.text.size()) {
      const auto in_part = static_cast<uint32_t>(lower.sources.size() - (lower.text.size() - size));
      if (kept_size > 0) {
        lower.sources.push_back({begin + in_part, begin + in_part + 1});
      } else {
        lower.sources.push_back({begin, static_cast<uint32_t>(at)});
      }
    }
  }
  return lower;
}

}  // namespace deberta
