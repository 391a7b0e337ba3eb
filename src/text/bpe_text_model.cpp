#include "text/bpe_text_model.h"

#include "base/utf8.h"
#include "text/bpe_model.h"
#include "text/byte_alphabet.h"
#include "text/gpt2_words.h"
#include "text/step.h"
#include "text/word_cache.h"

namespace deberta {
namespace {

bool is_inside_code_point(std::string_view text, size_t at) {
  return at < text.size() && (static_cast<uint8_t>(text[at]) & 0xC0) == 0x80;
}

// Pieces may part the bytes of a character; an offset never does.
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
  BpeTextModel(BpeModel model, std::vector<AddedToken> tokens)
      : model_(std::move(model)), tokens_(std::move(tokens), StripRule::kUnicode) {}

  ModelKind kind() const override { return ModelKind::kByteBpe; }
  void split(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const override;
  std::string to_text(std::span<const DecodeStep> steps) const override;

  size_t size() const override { return model_.pieces.size(); }
  std::string_view piece(int32_t id) const override { return model_.pieces[static_cast<size_t>(id)]; }
  std::optional<int32_t> id_of(std::string_view piece) const override { return model_.id_of(piece); }
  bool is_special(int32_t) const override { return false; }  // only the files beside the model know
  int32_t unk_id() const override { return kUnknownToken; }

 private:
  void split_plain(std::string_view text, TextPart part, Tokens& out) const;
  void melt(std::string_view text, size_t begin, size_t end, BpeWord& word) const;
  bool add_known_word(std::string_view text, size_t begin, size_t end, BpeWord& word, Tokens& out) const;

  BpeModel model_;
  SpecialTokens tokens_;
  WordCache words_;
};

void BpeTextModel::split(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const {
  if (!options.parse_special || tokens_.tokens().empty()) return split_plain(text, part, out);
  for (TextPart inner : tokens_.split(text.substr(part.begin, part.end - part.begin))) {
    inner.begin += part.begin;
    inner.end += part.begin;
    if (inner.id < 0) {
      split_plain(text, inner, out);
    } else {
      out.ids.push_back(inner.id);
      out.bytes.push_back({static_cast<uint32_t>(inner.begin), static_cast<uint32_t>(inner.end)});
    }
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

// What the cache can hold of a melted word: all pieces, or none.
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

std::unique_ptr<const TextModel> make_bpe_text_model(BpeModel model, std::vector<AddedToken> tokens) {
  return std::make_unique<const BpeTextModel>(std::move(model), std::move(tokens));
}

}  // namespace deberta
