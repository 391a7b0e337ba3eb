// Runs normalizer, added tokens and pre-tokenizer around the word splitter, and maps pieces back to the text.
#include "text/hf_json/json_text_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "deberta/error.h"
#include "text/hf_json/json_fields.h"
#include "text/hf_json/word_unigram.h"
#include "text/spm/normalizer.h"
#include "text/spm/pieces_to_text.h"

namespace deberta {
namespace {

class JsonTextModel final : public TextModel {
 public:
  JsonTextModel(JsonUnigram parts, std::string where)
      : where_(std::move(where)),
        model_(std::move(parts.model)),
        normalizer_(std::move(parts.normalizer)),
        pre_tokenizer_(std::move(parts.pre_tokenizer)),
        metaspace_(parts.metaspace),
        unigram_(model_, std::move(parts.scores)) {}

  ModelKind kind() const override { return ModelKind::kUnigram; }
  void set_tokens(const std::vector<AddedToken>& tokens) override;
  void split(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const override;
  std::string to_text(std::span<const DecodeStep> steps) const override { return pieces_to_text(model_, steps); }

  size_t size() const override { return model_.pieces.size(); }
  std::string_view piece(int32_t id) const override { return model_.pieces[static_cast<size_t>(id)].text; }
  std::optional<int32_t> id_of(std::string_view piece) const override { return model_.id_of(piece); }
  bool is_special(int32_t id) const override { return id == model_.unk_id; }
  int32_t unk_id() const override { return model_.unk_id; }

 private:
  MappedText to_inner(const MappedText& text, uint32_t begin) const;
  void split_words(const MappedText& inner, uint32_t shift, bool parse_special, Tokens& out) const;
  void split_plain(MappedText text, MappedText aligned, uint32_t shift, bool parse_special, Tokens& out) const;

  std::string where_;
  SpmModel model_;
  JsonNormalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  Metaspace metaspace_;
  WordUnigram unigram_;
  SpecialTokens tokens_;
};

void JsonTextModel::set_tokens(const std::vector<AddedToken>& tokens) {
  std::vector<bool> is_special(model_.pieces.size());
  for (const AddedToken& token : tokens) {
    const auto id = token.is_special ? model_.id_of(token.content) : std::nullopt;
    if (id) is_special[static_cast<size_t>(*id)] = true;
  }
  unigram_.set_special(std::move(is_special));
  tokens_ = SpecialTokens(tokens_of_model(tokens, normalizer_, where_), StripRule::kUnicode);
}

// Spaces, and U+2581, as one byte; one in front. `begin`: where the library takes the text to begin.
MappedText JsonTextModel::to_inner(const MappedText& text, uint32_t begin) const {
  MappedText inner;
  inner.text.reserve(text.text.size() + 1);
  inner.sources.reserve(text.text.size() + 1);
  const std::string_view all = text.text;
  const auto is_symbol = [&](size_t at) { return all.substr(at).starts_with(kSpaceSymbol); };
  const uint32_t source = text.sources.front().begin;
  if (metaspace_.prepends_at(begin) && all.front() != ' ' && !is_symbol(0)) {
    inner.add(" ", {source, source});
  }
  for (size_t at = 0; at < all.size();) {
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
void JsonTextModel::split_words(const MappedText& inner, uint32_t shift, bool parse_special, Tokens& out) const {
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

// `aligned`: the same text as the library aligns it; empty: as `text`.
void JsonTextModel::split_plain(MappedText text, MappedText aligned, uint32_t shift, bool parse_special,
                                Tokens& out) const {
  const bool is_apart = !aligned.text.empty();
  const auto begin_of = [&](const MappedText& part) { return shift + part.sources.front().begin; };
  if (pre_tokenizer_.is_empty())
    return split_words(to_inner(text, begin_of(is_apart ? aligned : text)), shift, parse_special, out);
  const std::vector<MappedText> parts = pre_tokenizer_.split(std::move(text), shift);
  const std::vector<MappedText> apart = pre_tokenizer_.split(std::move(aligned), shift);
  for (size_t i = 0; i < parts.size(); ++i)
    split_words(to_inner(parts[i], begin_of(is_apart ? apart[i] : parts[i])), shift, parse_special, out);
}

void JsonTextModel::split(std::string_view text, TextPart part, const SplitOptions& options, Tokens& out) const {
  const std::string_view own = text.substr(part.begin, part.end - part.begin);
  const MappedText normalized = normalizer_.normalize(own);
  check_normalized(normalized.text.size(), out, options);
  const bool is_apart =
      metaspace_.prepend == Metaspace::Prepend::kFirst && part.begin == 0 && normalizer_.may_move_begin(own);
  const MappedText aligned = is_apart ? normalizer_.normalize_as_aligned(own) : MappedText();
  const auto shift = static_cast<uint32_t>(part.begin);
  for (const TextPart& inner : cut_at_tokens(tokens_, normalized.text, options)) {
    if (inner.begin == inner.end) continue;
    if (inner.id < 0) {
      split_plain(slice(normalized, inner.begin, inner.end),
                  is_apart ? slice(aligned, inner.begin, inner.end) : MappedText(), shift, options.parse_special, out);
      continue;
    }
    const Offset source{normalized.sources[inner.begin].begin, normalized.sources[inner.end - 1].end};
    out.ids.push_back(inner.id);
    out.bytes.push_back({source.begin + shift, source.end + shift});
  }
}

}  // namespace

std::unique_ptr<TextModel> make_json_text_model(JsonUnigram parts, const std::string& where) {
  return std::make_unique<JsonTextModel>(std::move(parts), where);
}

std::vector<AddedToken> tokens_of_model(const std::vector<AddedToken>& tokens, const JsonNormalizer& normalizer,
                                        const std::string& where) {
  std::vector<AddedToken> inner;
  std::unordered_set<std::string> seen;
  for (const AddedToken& token : tokens) {
    if (!token.is_of_model) continue;
    inner.push_back(token);
    inner.back().is_of_model = false;
    inner.back().content = normalizer.normalize(token.content).text;
    const bool is_new = seen.insert(inner.back().content).second;
    if (inner.back().content.empty() || !is_new) {
      refuse_tokenizer_file(
          where, fmt::format("added_tokens: {}: expected a token that {} after normalisation",
                             quote_json(token.content), is_new ? "is not empty" : "differs from all others"));
    }
  }
  return inner;
}

// Scores stay as they are, byte pieces are pieces like any others, and the white-space settings of SentencePiece's own
// normaliser are ignored.
ConvertedUnigram convert_spm_model(SpmModel model, bool lowers, bool splits_punctuation, const std::string& where) {
  if (model.trainer_unk_id != static_cast<uint64_t>(model.unk_id)) {
    throw Error(
        ErrorCode::kUnsupported, where,
        fmt::format("unk_id: expected {}, the unknown piece, got {}: the fast tokenizer would use another piece "
                    "for it",
                    model.unk_id, model.trainer_unk_id));
  }
  ConvertedUnigram converted;
  JsonUnigram unigram;
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    const SpmPiece& piece = model.pieces[id];
    unigram.scores.push_back(piece.score);
    if (piece.type != PieceType::kControl && piece.type != PieceType::kUserDefined) continue;
    AddedToken& token = converted.tokens.emplace_back();
    token.content = piece.text;
    token.id = static_cast<int32_t>(id);
    token.is_normalized = false;
    token.is_special = piece.type == PieceType::kControl;
  }
  unigram.normalizer = JsonNormalizer::for_spm(model.charsmap, lowers, where);
  if (splits_punctuation) unigram.pre_tokenizer.add_punctuation();
  model.byte_fallback = false;
  model.charsmap = {};
  unigram.model = std::move(model);
  converted.model = make_json_text_model(std::move(unigram), where);
  return converted;
}

}  // namespace deberta
