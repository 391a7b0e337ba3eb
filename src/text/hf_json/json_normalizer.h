// The normalizer of a tokenizer.json, component by component, as the tokenizers library runs it: Strip, Precompiled,
// Lowercase, Replace of a fixed text or by one of two known patterns, NFC, NFD, StripAccents, BertNormalizer. All
// others are refused.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "text/mapped_text.h"
#include "text/spm/charsmap.h"
#include "text/unicode/normal_form.h"

namespace deberta {

// The flags of BertNormalizer.
struct BertRules {
  bool cleans = true;
  bool parts_chinese = true;
  bool lowers = true;
  std::optional<bool> strips_accents;  // nothing: if it lower-cases
  bool removes_accents() const { return strips_accents.value_or(lowers); }
};

// Steps of BERT's: white space as spaces without control characters; spaces around Chinese characters; a text in NFD
// without its marks.
MappedText clean_text(const MappedText& text, Tables tables);
MappedText part_chinese(const MappedText& text, Tables tables);
MappedText strip_accents(const MappedText& text, Tables tables);

class JsonNormalizer {
 public:
  JsonNormalizer() = default;
  // `value` is the member "normalizer", null for none. Throws kTokenizerFile, and kUnsupported for another component.
  JsonNormalizer(const Json& value, const std::string& where);

  // What transformers writes for a SentencePiece model, whose charsmap may be empty.
  static JsonNormalizer for_spm(const std::string& charsmap, bool lowers, const std::string& where);
  static JsonNormalizer for_bert(const BertRules& rules);
  // Changes the switches of a file whose normalizer is a single BertNormalizer; does nothing to others.
  void change_bert(const std::function<void(BertRules&)>& change);

  bool is_empty() const { return steps_.empty(); }
  // `text` is valid UTF-8. Throws kTextTooLong above 2^29 bytes.
  MappedText normalize(std::string_view text) const;

  // The same text, each character beginning where the library takes it to begin, which loses count of characters that a
  // charsmap drops at the begin and takes what a replacement puts in to come from the last character that it replaces.
  MappedText normalize_as_aligned(std::string_view text) const;
  // Whether that may say something else of where the first character begins.
  bool may_move_begin(std::string_view text) const;

 private:
  enum class Kind : uint8_t {
    kStrip,
    kLowerCase,
    kCharsmap,
    kReplace,
    kReplaceSpaces,
    kReplaceLines,
    kNfc,
    kNfd,
    kStripAccents,
    kBert
  };
  struct Step {
    Kind kind = Kind::kStrip;
    bool strips_left = false;
    bool strips_right = false;
    std::string pattern = {};  // kReplace only
    std::string content = {};
    Charsmap charsmap = {};
    BertRules bert = {};
  };
  void add(const Json& component, const std::string& where);
  static Step replacing(const Json& component, const std::string& where);
  MappedText normalize(std::string_view text, bool is_aligned) const;
  static MappedText apply(const Step& step, const MappedText& text, bool is_aligned);

  std::vector<Step> steps_;
};

}  // namespace deberta
