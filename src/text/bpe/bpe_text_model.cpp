// Cuts a text into words, looks each up in the cache or merges it, and maps pieces back to whole characters.
#include "text/bpe/bpe_text_model.h"

#include "base/utf8.h"
#include "text/bpe/bpe_model.h"
#include "text/bpe/byte_alphabet.h"
#include "text/bpe/gpt2_words.h"
#include "text/step.h"
#include "text/word_cache.h"

namespace deberta {
namespace {

bool is_inside_code_point(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80;
}

// Pieces may split the bytes of a character; an offset never does.
Offset to_offset(std::string_view text, size_t begin, size_t end) {
  while (begin < end && text[begin] == ' ') ++begin;
  while (begin > 0 && is_inside_code_point(text, begin)) --begin;
  while (is_inside_code_point(text, end)) ++end;
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(end)};
}

void append_bytes(std::string& bytes, std::string_view piece) {
  for (size_t at = 0; at < piece.size();) {
    const CodePoint point = decode_utf8(piece, at);
    if (const std::optional<uint8_t> byte = from_alphabet(point.value)) {
      bytes += static_cast<char>(*byte);
    } else {
      bytes += piece.substr(at, point.size_bytes);
    }
    at += point.size_bytes;
  }
}

class BpeTextModel final : public TextModel {
 public:
  explicit BpeTextModel(BpeModel model) : model_(std::move(model)) {}

  ModelKind kind() const override { return ModelKind::kByteBpe; }
  void set_tokens(const std::vector<AddedToken>& tokens) override;
  void split(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const override;
  std::string to_text(std::span<const DecodeStep> steps) const override;

  size_t size() const override { return model_.pieces.size(); }
  std::string_view piece(int32_t id) const override { return model_.pieces[static_cast<size_t>(id)]; }
  std::optional<int32_t> id_of(std::string_view piece) const override { return model_.id_of(piece); }
  bool is_special(int32_t) const override { return false; }  // only the files beside the model know
  int32_t unk_id() const override { return kUnknownToken; }

 private:
  void split_plain(std::string_view text, TextPart part, Tokens& out) const;
  void split_with_space(std::string_view text, TextPart part, Tokens& out) const;
  void melt(std::string_view text, size_t begin, size_t end, BpeWord& word) const;
  bool add_known_word(std::string_view text, size_t begin, size_t end, BpeWord& word, Tokens& out) const;

  BpeModel model_;
  SpecialTokens tokens_;
  WordCache words_;
};

void BpeTextModel::set_tokens(const std::vector<AddedToken>& tokens) {
  std::vector<AddedToken> own;
  for (AddedToken token : tokens) {
    if (!token.is_of_model) continue;
    token.is_of_model = false;
    own.push_back(std::move(token));
  }
  tokens_ = SpecialTokens(std::move(own), StripRule::kUnicode);
}

void BpeTextModel::split(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const {
  const auto split_part = [&](const TextPart& plain) {
    if (options.adds_prefix_space && text[plain.begin] != ' ') return split_with_space(text, plain, out);
    split_plain(text, plain, out);
  };
  if (part.begin == part.end) return;
  for (TextPart inner : cut_at_tokens(tokens_, text.substr(part.begin, part.end - part.begin), options)) {
    inner.begin += part.begin;
    inner.end += part.begin;
    if (inner.id < 0) {
      split_part(inner);
    } else {
      out.ids.push_back(inner.id);
      out.bytes.push_back({static_cast<uint32_t>(inner.begin), static_cast<uint32_t>(inner.end)});
    }
  }
}

// The part as if a space stood before it; no token's range includes that space.
void BpeTextModel::split_with_space(std::string_view text, TextPart part, Tokens& out) const {
  const std::string spaced = " " + std::string(text.substr(part.begin, part.end - part.begin));
  Tokens tokens;
  split_plain(spaced, {0, spaced.size()}, tokens);
  const auto to_text = [&](uint32_t at) { return static_cast<uint32_t>(part.begin + (at == 0 ? 0 : at - 1)); };
  for (size_t i = 0; i < tokens.ids.size(); ++i) {
    out.ids.push_back(tokens.ids[i]);
    out.bytes.push_back({to_text(tokens.bytes[i].begin), to_text(tokens.bytes[i].end)});
  }
}

void BpeTextModel::melt(std::string_view text, size_t begin, size_t end, BpeWord& word) const {
  word.clear();
  for (size_t at = begin; at < end; ++at) word.add_byte(model_.byte_ids[static_cast<uint8_t>(text[at])]);
  word.melt();
}

void add_token(std::string_view text, int32_t id, size_t begin, size_t end, Tokens& out) {
  out.ids.push_back(id);
  out.bytes.push_back(to_offset(text, begin, end));
}

// What the cache can hold of a merged word: all pieces, or none.
WordCache::Split to_split(const BpeWord& word) {
  WordCache::Split split;
  bool fits = true;
  word.for_each([&](const BpeWord::Symbol& symbol) {
    fits =
        fits && split.count < WordCache::kMaxSteps && symbol.id >= 0 && symbol.id <= static_cast<int32_t>(kStepIdMask);
    if (fits)
      split.steps[split.count++] = (symbol.end - symbol.begin) << kStepIdBits | static_cast<uint32_t>(symbol.id);
  });
  if (!fits) split.count = 0;
  return split;
}

// False when the word is too long to be remembered, or has more pieces than fit.
bool BpeTextModel::add_known_word(std::string_view text, size_t begin, size_t end, BpeWord& word, Tokens& out) const {
  if (end - begin > WordCache::kMaxBytes) return false;
  const WordCache::Key key(text, begin, end);
  WordCache::Split split;
  if (!words_.find(key, split)) {
    melt(text, begin, end, word);
    split = to_split(word);
    words_.put(key, split);
  }
  for (uint32_t i = 0; i < split.count; ++i) {
    const size_t next = begin + (split.steps[i] >> kStepIdBits);
    add_token(text, static_cast<int32_t>(split.steps[i] & kStepIdMask), begin, next, out);
    begin = next;
  }
  return split.count > 0;
}

void BpeTextModel::split_plain(std::string_view text, TextPart part, Tokens& out) const {
  BpeWord word(model_.merges);
  const std::string_view up_to_end = text.substr(0, part.end);
  for (size_t begin = part.begin; begin < part.end;) {
    const size_t end = end_of_gpt2_word(up_to_end, begin);
    if (!add_known_word(text, begin, end, word, out)) {
      melt(text, begin, end, word);
      word.for_each([&](const BpeWord::Symbol& symbol) {
        add_token(text, symbol.id, begin + symbol.begin, begin + symbol.end, out);
      });
    }
    begin = end;
  }
}

std::string BpeTextModel::to_text(std::span<const DecodeStep> steps) const {
  std::string text;
  std::string bytes;
  const auto end_bytes = [&] {
    text += replace_invalid_utf8(bytes);
    bytes.clear();
  };
  for (const DecodeStep& step : steps) {
    if (step.is_piece) {
      append_bytes(bytes, piece(step.id));
      continue;
    }
    end_bytes();
    append_set_off(text, step.content);
  }
  end_bytes();
  return text;
}

}  // namespace

std::unique_ptr<TextModel> make_bpe_text_model(BpeModel model) {
  return std::make_unique<BpeTextModel>(std::move(model));
}

}  // namespace deberta
