// The normalizer of a tokenizer.json, component by component, as the tokenizers library runs it: Strip, Precompiled,
// Lowercase, Replace of a fixed text or of several spaces. What else there is, is refused.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/charsmap.h"
#include "text/mapped_text.h"

namespace deberta {

class JsonNormalizer {
 public:
  // `value` is the member "normalizer", null for none. Throws kTokenizerFile, and kUnsupported for another component.
  JsonNormalizer(const Json& value, const std::string& where);

  bool is_empty() const { return steps_.empty(); }
  // `text` is valid UTF-8. Throws kTextTooLong above 2^29 bytes.
  MappedText normalize(std::string_view text) const;

 private:
  enum class Kind : uint8_t { kStrip, kLowerCase, kCharsmap, kReplace, kReplaceSpaces };
  struct Step {
    Kind kind = Kind::kStrip;
    bool strips_left = false;
    bool strips_right = false;
    std::string pattern;  // of kReplace; kReplaceSpaces: two or more spaces
    std::string content;
    Charsmap charsmap;
  };
  void add(const Json& component, const std::string& where);
  static MappedText apply(const Step& step, const MappedText& text);

  std::vector<Step> steps_;
};

}  // namespace deberta
