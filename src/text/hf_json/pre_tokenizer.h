// The pre-tokenizers of a tokenizer.json that cut a text into words, as the tokenizers library runs them. Metaspace and
// ByteLevel, which also rewrite the text, belong to the models that need them (tokenizer_json.cpp).
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/mapped_text.h"

namespace deberta {

// What to do with the matched separators.
enum class SplitBehavior : uint8_t { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

class PreTokenizer {
 public:
  // Whether a component of this type is one of these.
  static bool is_known(std::string_view type);
  // One component after the other. Throws kTokenizerFile, and kUnsupported for a regular expression.
  void add(const Json& component, const std::string& where);
  void add_punctuation() { steps_.push_back({.kind = Kind::kPunctuation}); }
  void add_bert();

  bool is_empty() const { return steps_.empty(); }
  // Non-empty parts in order; removed text belongs to none.
  std::vector<MappedText> split(MappedText text) const;

 private:
  enum class Kind : uint8_t { kWhiteSpace, kPunctuation, kDigits, kWords, kText };
  struct Step {
    Kind kind = Kind::kWhiteSpace;
    SplitBehavior behavior = SplitBehavior::kIsolated;
    bool is_inverted = false;  // cut at everything that does not match
    std::string text = {};     // of kText
  };
  static void cut(const Step& step, const MappedText& text, std::vector<MappedText>& out);

  std::vector<Step> steps_;
};

}  // namespace deberta
