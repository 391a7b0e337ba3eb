// The pre-tokenizers of a tokenizer.json that cut a text into words, as the tokenizers library runs them. ByteLevel,
// and the Metaspace of Unigram, which also rewrite the text, belong to those models (tokenizer_json.cpp).
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

// Metaspace: spaces become U+2581, one is put in front, and each begins a word.
struct Metaspace {
  enum class Prepend : uint8_t { kAlways, kFirst, kNever };  // before each part, that at the text's begin, none
  Prepend prepend = Prepend::kAlways;
  bool splits_words = true;

  // Whether one is put before a part that does not begin with one; `begin`: where it begins in the whole text.
  bool prepends_at(uint32_t begin) const {
    return prepend == Prepend::kAlways || (prepend == Prepend::kFirst && begin == 0);
  }
};

// Throws kTokenizerFile, and kUnsupported for another scheme.
Metaspace read_metaspace(const Json& component, const std::string& where);

class PreTokenizer {
 public:
  // One component after the other. Throws kTokenizerFile, and kUnsupported for a regular expression.
  void add(const Json& component, const std::string& where);
  void add_punctuation() { steps_.push_back({.kind = Kind::kPunctuation}); }
  void add_bert();

  bool is_empty() const { return steps_.empty(); }
  bool has_metaspace() const;
  bool asks_for_begin() const;  // a Metaspace puts a space before what begins the text only
  // Non-empty parts in order; removed text belongs to none. `shift`: where the text's sources begin in the whole text.
  std::vector<MappedText> split(MappedText text, uint32_t shift) const;

 private:
  enum class Kind : uint8_t { kWhiteSpace, kPunctuation, kDigits, kWords, kText, kMetaspace };
  struct Step {
    Kind kind = Kind::kWhiteSpace;
    SplitBehavior behavior = SplitBehavior::kIsolated;
    bool is_inverted = false;  // cut at everything that does not match
    std::string text = {};     // kText only
    Metaspace metaspace = {};  // kMetaspace only
  };
  static void cut(const Step& step, const MappedText& text, uint32_t shift, std::vector<MappedText>& out);

  std::vector<Step> steps_;
};

}  // namespace deberta
