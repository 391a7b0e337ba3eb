// Two splitters of words, BERT's BasicTokenizer and the library's components, over one vocabulary.
#include "text/word_piece/word_piece_text_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "text/hf_json/json_fields.h"
#include "text/hf_json/json_text_model.h"
#include "text/spm/normalizer.h"
#include "text/unicode/unicode.h"

namespace deberta {
namespace {

// The parts between characters that `parts` holds for; those stand alone, or are dropped.
template <class Parts>
void cut_at(const MappedText& text, Parts parts, bool keeps, std::vector<MappedText>& out) {
  size_t begin = 0;
  for (size_t at = 0; at < text.text.size();) {
    const CodePoint point = decode_utf8(text.text, at);
    const size_t end = at + point.size_bytes;
    if (parts(point.value)) {
      if (begin < at) out.push_back(slice(text, begin, at));
      if (keeps) out.push_back(slice(text, at, end));
      begin = end;
    }
    at = end;
  }
  if (begin < text.text.size()) out.push_back(slice(text, begin, text.text.size()));
}

class WordPieceBase : public TextModel {
 public:
  explicit WordPieceBase(WordPieceModel model, int32_t unk_id = kUnknownToken)
      : model_(std::move(model)), splitter_(model_), unk_id_(unk_id) {}

  ModelKind kind() const override { return ModelKind::kWordPiece; }
  std::string to_text(std::span<const DecodeStep> steps) const override;
  size_t size() const override { return model_.pieces.size(); }
  std::string_view piece(int32_t id) const override { return model_.pieces[static_cast<size_t>(id)]; }
  std::optional<int32_t> id_of(std::string_view piece) const override { return model_.id_of(piece); }
  bool is_special(int32_t) const override { return false; }  // only the files beside the model know
  int32_t unk_id() const override { return unk_id_; }
  void set_tokens(const std::vector<AddedToken>& tokens) override {
    std::vector<bool> is_special(model_.pieces.size());
    for (const AddedToken& token : tokens) {
      const auto id = token.is_special ? model_.id_of(token.content) : std::nullopt;
      if (id) is_special[static_cast<size_t>(*id)] = true;
    }
    if (std::ranges::find(is_special, true) != is_special.end()) literal_splitter_.emplace(model_, is_special);
  }

 protected:
  void split_word(const MappedText& word, uint32_t shift, bool parse_special, Tokens& out) const {
    (parse_special || !literal_splitter_ ? splitter_ : *literal_splitter_).split(model_, word, shift, out);
  }
  const WordPieceModel& model() const { return model_; }

 private:
  WordPieceModel model_;
  WordPieceSplitter splitter_;
  std::optional<WordPieceSplitter> literal_splitter_;  // without special tokens, where pieces are
  int32_t unk_id_;
};

std::string WordPieceBase::to_text(std::span<const DecodeStep> steps) const {
  std::string text;
  for (const DecodeStep& step : steps) {
    const std::string_view content = step.is_piece ? piece(step.id) : step.content;
    const bool goes_on = step.is_piece && !text.empty() && content.starts_with(model_.prefix);
    if (goes_on) {
      text += content.substr(model_.prefix.size());
    } else {
      append_set_off(text, content);
    }
  }
  return text;
}

// ---- the slow tokenizer

class SlowWordPiece final : public WordPieceBase {
 public:
  SlowWordPiece(WordPieceModel model, BasicWords words) : WordPieceBase(std::move(model)), words_(std::move(words)) {}

  void split(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const override {
    const auto shift = static_cast<uint32_t>(part.begin);
    std::vector<MappedText> words;
    cut_at(clean(text.substr(part.begin, part.end - part.begin)), is_white_space, false, words);
    for (const MappedText& word : words) {
      if (words_.is_used) {
        split_basic(word, shift, options.parse_special, out);
      } else {
        split_word(word, shift, options.parse_special, out);
      }
    }
  }

 private:
  MappedText clean(std::string_view text) const {
    MappedText mapped = to_mapped(text);
    if (!words_.is_used) return mapped;
    mapped = clean_text(mapped, Tables::kPython);
    if (words_.rules.parts_chinese) mapped = part_chinese(mapped, Tables::kPython);
    return to_nfc(mapped, Tables::kPython);
  }

  void split_basic(const MappedText& word, uint32_t shift, bool parse_special, Tokens& out) const {
    if (words_.never_split.contains(word.text) && parse_special) {
      out.ids.push_back(model().id_of(word.text).value_or(kUnknownToken));
      out.bytes.push_back({word.sources.front().begin + shift, word.sources.back().end + shift});
      return;
    }
    std::vector<MappedText> parts;
    const auto is_punctuation = [](char32_t point) { return is_bert_punctuation(point, Tables::kPython); };
    cut_at(words_.rules.removes_accents() ? strip_accents(to_nfd(word, Tables::kPython), Tables::kPython) : word,
           is_punctuation, true, parts);
    for (const MappedText& part : parts) split_word(part, shift, parse_special, out);
  }

  BasicWords words_;
};

// ---- of the tokenizers library

class JsonWordPieceModel final : public WordPieceBase {
 public:
  JsonWordPieceModel(JsonWordPiece parts, std::string where)
      : WordPieceBase(std::move(parts.model), parts.unk_id),
        where_(std::move(where)),
        normalizer_(std::move(parts.normalizer)),
        pre_tokenizer_(std::move(parts.pre_tokenizer)) {}

  std::string to_text(std::span<const DecodeStep> steps) const override {
    return pre_tokenizer_.has_metaspace() ? spaced_text(steps) : WordPieceBase::to_text(steps);
  }

  void set_tokens(const std::vector<AddedToken>& tokens) override {
    WordPieceBase::set_tokens(tokens);
    tokens_ = SpecialTokens(tokens_of_model(tokens, normalizer_, where_), StripRule::kUnicode);
  }

  void split(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const override {
    const MappedText normalized = normalizer_.normalize(text.substr(part.begin, part.end - part.begin));
    const auto shift = static_cast<uint32_t>(part.begin);
    for (const TextPart& inner : cut_at_tokens(tokens_, normalized.text, options)) {
      if (inner.begin == inner.end) continue;
      const MappedText plain = slice(normalized, inner.begin, inner.end);
      if (inner.id >= 0) {
        out.ids.push_back(inner.id);
        out.bytes.push_back({plain.sources.front().begin + shift, plain.sources.back().end + shift});
        continue;
      }
      for (const MappedText& word : pre_tokenizer_.split(plain, shift))
        split_word(word, shift, options.parse_special, out);
    }
  }

 private:
  // The text of pieces that carry their spaces.
  std::string spaced_text(std::span<const DecodeStep> steps) const {
    std::string text;
    for (const DecodeStep& step : steps) {
      std::string_view content = step.is_piece ? piece(step.id) : step.content;
      if (!step.is_piece) {
        append_set_off(text, content);
        continue;
      }
      if (!text.empty() && content.starts_with(model().prefix)) content.remove_prefix(model().prefix.size());
      for (size_t at = 0; at < content.size();) {
        const bool is_space = content.substr(at).starts_with(kSpaceSymbol);
        if (!is_space || !text.empty()) text += is_space ? ' ' : content[at];
        at += is_space ? kSpaceSymbol.size() : 1;
      }
    }
    return text;
  }

  std::string where_;
  JsonNormalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  SpecialTokens tokens_;
};

}  // namespace

BasicWords basic_words(const TokenizerSettings& settings) {
  BasicWords words;
  words.is_used = settings.is_truthy("do_basic_tokenize", true);
  words.rules.parts_chinese = settings.is_truthy("tokenize_chinese_chars", true);
  words.rules.lowers = settings.is_truthy("do_lower_case", true);
  // When lower-casing, Python's "is not False"; else its truth value.
  const Json* accents = settings.find("strip_accents");
  const bool is_false = accents != nullptr && accents->is_bool() && !accents->as_bool();
  words.rules.strips_accents = words.rules.lowers ? !is_false : settings.is_truthy("strip_accents", false);
  const Json* never = settings.find("never_split");
  if (never == nullptr || never->is_null()) return words;
  const std::string where = settings.where + ": never_split";
  if (!never->is_array()) refuse_tokenizer_file(where, fmt::format("expected a list, got {}", never->describe()));
  for (const Json& word : never->as_array()) {
    if (word.is_string()) words.never_split.insert(word.as_string());
  }
  return words;
}

std::unique_ptr<TextModel> make_slow_word_piece(WordPieceModel model, BasicWords words) {
  return std::make_unique<SlowWordPiece>(std::move(model), std::move(words));
}

std::unique_ptr<TextModel> make_json_word_piece(JsonWordPiece parts, const std::string& where) {
  return std::make_unique<JsonWordPieceModel>(std::move(parts), where);
}

void change_bert_rules(const TokenizerSettings& settings, BertRules& rules) {
  const auto flag = [&](const char* key) {
    const Json* value = settings.find(key);
    if (value != nullptr && !value->is_bool())
      refuse_tokenizer_file(settings.where, fmt::format("{}: expected true or false, got {}", key, value->describe()));
    return value == nullptr || value->as_bool();
  };
  rules.lowers = flag("do_lower_case");
  rules.parts_chinese = flag("tokenize_chinese_chars");
  const Json* accents = settings.find("strip_accents");
  rules.strips_accents.reset();
  if (accents != nullptr && !accents->is_null()) rules.strips_accents = flag("strip_accents");
}

JsonWordPiece convert_vocab_txt(WordPieceModel model, const TokenizerSettings& settings) {
  BertRules rules;
  change_bert_rules(settings, rules);
  JsonWordPiece parts{std::move(model), JsonNormalizer::for_bert(rules), {}};
  parts.pre_tokenizer.add_bert();
  return parts;
}

}  // namespace deberta
