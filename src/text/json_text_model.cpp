#include "text/json_text_model.h"

#include <algorithm>

#include "text/normalizer.h"
#include "text/pieces_to_text.h"
#include "text/word_unigram.h"

namespace deberta {
namespace {

class JsonTextModel final : public TextModel {
 public:
  explicit JsonTextModel(JsonUnigram parts)
      : model_(std::move(parts.model)),
        normalizer_(std::move(parts.normalizer)),
        metaspace_(parts.metaspace),
        unigram_(model_, std::move(parts.scores), std::move(parts.is_special)),
        tokens_(std::move(parts.tokens), StripRule::kUnicode) {}

  ModelKind kind() const override { return ModelKind::kUnigram; }
  void split(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const override;
  std::string to_text(std::span<const DecodeStep> steps) const override { return pieces_to_text(model_, steps); }

  size_t size() const override { return model_.pieces.size(); }
  std::string_view piece(int32_t id) const override { return model_.pieces[static_cast<size_t>(id)].text; }
  std::optional<int32_t> id_of(std::string_view piece) const override { return model_.id_of(piece); }
  bool is_special(int32_t id) const override { return id == model_.unk_id; }
  int32_t unk_id() const override { return model_.unk_id; }

 private:
  MappedText to_inner(const MappedText& text, size_t begin, size_t end) const;
  void split_plain(const MappedText& inner, uint32_t shift, bool parse_special, Tokens& out) const;

  SpmModel model_;
  JsonNormalizer normalizer_;
  Metaspace metaspace_;
  WordUnigram unigram_;
  SpecialTokens tokens_;
};

// Spaces, and U+2581, as one byte; one in front.
MappedText JsonTextModel::to_inner(const MappedText& text, size_t begin, size_t end) const {
  MappedText inner;
  inner.text.reserve(end - begin + 1);
  inner.sources.reserve(end - begin + 1);
  const std::string_view all = std::string_view(text.text).substr(0, end);
  const auto is_symbol = [&](size_t at) { return all.substr(at).starts_with(kSpaceSymbol); };
  if (metaspace_.adds_prefix_space && all[begin] != ' ' && !is_symbol(begin)) {
    const uint32_t source = text.sources[begin].begin;
    inner.add(" ", {source, source});
  }
  for (size_t at = begin; at < end;) {
    const bool is_space_symbol = is_symbol(at);
    inner.text += is_space_symbol ? ' ' : all[at];
    inner.sources.push_back(text.sources[at]);
    at += is_space_symbol ? kSpaceSymbol.size() : 1;
  }
  return inner;
}

// Without the spaces that a token begins with; a space made together with other text is part of that text.
Offset source_of(const MappedText& inner, uint32_t begin, uint32_t end) {
  const auto& sources = inner.sources;
  const auto is_alone = [&](uint32_t at) { return at + 1 == sources.size() || sources[at] != sources[at + 1]; };
  while (begin < end && inner.text[begin] == ' ' && is_alone(begin)) ++begin;
  if (begin < end) return {sources[begin].begin, sources[end - 1].end};
  const uint32_t source = begin < sources.size() ? sources[begin].begin : sources.back().end;
  return {source, source};
}

// Each space begins a word.
void JsonTextModel::split_plain(const MappedText& inner, uint32_t shift, bool parse_special, Tokens& out) const {
  const std::string_view text = inner.text;
  std::vector<UnigramToken> tokens;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = metaspace_.splits_words ? std::min(text.find(' ', begin + 1), text.size()) : text.size();
    unigram_.split(model_, text.substr(begin, end - begin), static_cast<uint32_t>(begin), parse_special, tokens);
    begin = end;
  }
  for (const UnigramToken& token : tokens) {
    const Offset source = source_of(inner, token.begin, token.end);
    out.ids.push_back(token.id);
    out.bytes.push_back({source.begin + shift, source.end + shift});
  }
}

void JsonTextModel::split(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const {
  const MappedText normalized = normalizer_.normalize(text.substr(part.begin, part.end - part.begin));
  const auto shift = static_cast<uint32_t>(part.begin);
  std::vector<TextPart> parts{{0, normalized.text.size()}};
  if (options.parse_special && !tokens_.tokens().empty()) parts = tokens_.split(normalized.text);
  for (const TextPart& inner : parts) {
    if (inner.begin == inner.end) continue;
    if (inner.id < 0) {
      split_plain(to_inner(normalized, inner.begin, inner.end), shift, options.parse_special, out);
      continue;
    }
    const Offset source{normalized.sources[inner.begin].begin, normalized.sources[inner.end - 1].end};
    out.ids.push_back(inner.id);
    out.bytes.push_back({source.begin + shift, source.end + shift});
  }
}

}  // namespace

std::unique_ptr<const TextModel> make_json_text_model(JsonUnigram parts) {
  return std::make_unique<const JsonTextModel>(std::move(parts));
}

}  // namespace deberta
