// Every file is checked as the tokenizers library 0.22 would read it; where it would only warn, or take an id other
// than the file's, the file is refused.
#include "text/tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_set>

#include "base/json.h"
#include "deberta/error.h"
#include "text/bpe_model.h"
#include "text/bpe_text_model.h"
#include "text/json_fields.h"
#include "text/json_scores.h"
#include "text/json_text_model.h"
#include "text/normalizer.h"

namespace deberta {
namespace {

constexpr JsonLimits kLimits{.max_bytes = kMaxSpmFileBytes, .max_depth = 32, .max_nodes = size_t{8} << 20};
constexpr std::string_view kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

const Json& member(const Json& object, std::string_view key) {
  static const Json kNull;
  const Json* value = object.find(key);
  return value == nullptr ? kNull : *value;
}

// How ids become text is decided here, not by the file; what it says must still be what DeBERTa has.
void check_decoder(const Json& decoder, const std::string& where) {
  constexpr std::array<std::string_view, 6> kKnown = {"ByteLevel", "Metaspace", "ByteFallback",
                                                      "Fuse",      "Replace",   "Strip"};
  for (const Json* component : components_of(decoder, "decoders", where)) {
    const std::string& type = component_type(*component, where);
    if (std::find(kKnown.begin(), kKnown.end(), type) == kKnown.end()) refuse_component(type, where);
  }
}

// ---- added tokens

AddedToken parse_added_token(const Json& value, const std::string& where) {
  if (!value.is_object()) refuse_tokenizer_file(where, fmt::format("expected an object, got {}", value.describe()));
  AddedToken token;
  token.content = string_field(value, "content", where);
  if (token.content.empty() || token.content.size() > kMaxPieceBytes) {
    refuse_tokenizer_file(where,
                          fmt::format("expected a token of 1..{} bytes, got {}", kMaxPieceBytes, token.content.size()));
  }
  if (token.content.find('\0') != std::string::npos) refuse_tokenizer_file(where, "expected a token without NUL");
  const Json& id = member(value, "id");
  if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() >= static_cast<int64_t>(2 * kMaxPieces))
    refuse_tokenizer_file(where, fmt::format("id: expected 0..{}, got {}", 2 * kMaxPieces - 1, id.describe()));
  token.id = static_cast<int32_t>(id.as_integer());
  token.strips_left = bool_field(value, "lstrip", false, where);
  token.strips_right = bool_field(value, "rstrip", false, where);
  token.is_special = bool_field(value, "special", false, where);
  token.is_normalized = bool_field(value, "normalized", !token.is_special, where);
  token.is_of_model = token.is_normalized;
  if (bool_field(value, "single_word", false, where)) {
    throw Error(ErrorCode::kUnsupported, where,
                fmt::format("{}: single_word: expected false, got true", quote_json(token.content)));
  }
  return token;
}

std::vector<AddedToken> read_added_tokens(const Json& root, const std::string& path) {
  const Json& list = member(root, "added_tokens");
  std::vector<AddedToken> tokens;
  if (list.is_null()) return tokens;
  const std::string where = path + ": added_tokens";
  if (!list.is_array()) refuse_tokenizer_file(where, fmt::format("expected a list, got {}", list.describe()));
  if (list.as_array().size() > kMaxPieces)
    refuse_tokenizer_file(where, fmt::format("expected at most {}, got {}", kMaxPieces, list.as_array().size()));
  for (const Json& value : list.as_array()) tokens.push_back(parse_added_token(value, where));
  return tokens;
}

// A token that is a piece has the piece's id; the others follow the pieces in the order of the file.
void check_added_ids(const std::vector<AddedToken>& tokens, const TextModel& model, size_t pieces,
                     const std::string& path) {
  auto next = static_cast<int32_t>(pieces);
  for (const AddedToken& token : tokens) {
    const std::optional<int32_t> piece = model.id_of(token.content);
    const int32_t expected = piece ? *piece : next++;
    if (token.id != expected) {
      refuse_tokenizer_file(
          path, fmt::format("added_tokens: {}: expected id {}, got {}", quote_json(token.content), expected, token.id));
    }
  }
}

// Those that are looked for in the normalised text, as that text writes them.
std::vector<AddedToken> tokens_of_model(const std::vector<AddedToken>& tokens, const JsonNormalizer& normalizer,
                                        const std::string& path) {
  std::vector<AddedToken> inner;
  std::unordered_set<std::string> seen;
  for (const AddedToken& token : tokens) {
    if (!token.is_of_model) continue;
    inner.push_back(token);
    inner.back().is_of_model = false;
    inner.back().content = normalizer.normalize(token.content).text;
    const bool is_new = seen.insert(inner.back().content).second;
    if (inner.back().content.empty() || !is_new) {
      refuse_tokenizer_file(path, fmt::format("added_tokens: {}: expected a token that normalisation leaves {}",
                                              quote_json(token.content), is_new ? "" : "different from others"));
    }
  }
  return inner;
}

// ---- Unigram

Metaspace read_metaspace(const Json& component, const std::string& where) {
  const std::string& type = component_type(component, where);
  if (type != "Metaspace") refuse_component(type, where);
  if (string_field(component, "replacement", where) != kSpaceSymbol)
    refuse_tokenizer_file(where, "replacement: expected \"\\u2581\"");
  const Json& scheme = member(component, "prepend_scheme");
  const std::string text = scheme.is_null() ? "always" : string_field(component, "prepend_scheme", where);
  if (text != "always" && text != "never") {
    throw Error(ErrorCode::kUnsupported, where,
                fmt::format("prepend_scheme: expected always or never, got {}", quote_json(text)));
  }
  if (!bool_field(component, "add_prefix_space", true, where) && text != "never")
    refuse_tokenizer_file(where, "add_prefix_space: false contradicts prepend_scheme");
  return {text == "always", bool_field(component, "split", true, where)};
}

Metaspace read_unigram_pre_tokenizer(const Json& root, const std::string& path) {
  const std::string where = path + ": pre_tokenizer";
  const auto components = components_of(member(root, "pre_tokenizer"), "pretokenizers", where);
  for (const Json* component : components) {
    const std::string& type = component_type(*component, where);
    if (type != "Metaspace") refuse_component(type, where);
  }
  if (components.size() != 1)
    refuse_tokenizer_file(where, fmt::format("expected one Metaspace, got {}", components.size()));
  return read_metaspace(*components.front(), where);
}

void add_piece(const Json& entry, JsonUnigram& unigram, const std::string& where) {
  const size_t id = unigram.scores.size();
  const bool is_pair = entry.is_array() && entry.as_array().size() == 2 && entry.as_array()[0].is_string() &&
                       entry.as_array()[1].is_number();
  if (!is_pair) refuse_tokenizer_file(where, fmt::format("piece {}: expected [text, score]", id));
  const std::string& text = entry.as_array()[0].as_string();
  if (text.empty() || text.size() > kMaxPieceBytes) {
    refuse_tokenizer_file(where,
                          fmt::format("piece {}: expected 1..{} bytes, got {}", id, kMaxPieceBytes, text.size()));
  }
  unigram.model.pieces.push_back({text, 0, PieceType::kNormal});
  unigram.scores.push_back(library_score(entry.as_array()[1].as_number()));
}

void read_byte_pieces(SpmModel& model) {
  model.byte_ids.fill(-1);
  for (size_t id = 0; model.byte_fallback && id < model.pieces.size(); ++id) {
    const auto byte = parse_byte_piece(model.pieces[id].text);
    if (!byte) continue;
    model.pieces[id].type = PieceType::kByte;
    model.byte_ids[*byte] = static_cast<int32_t>(id);
  }
}

void read_unigram(const Json& json, JsonUnigram& unigram, const std::string& where) {
  const JsonArray& vocab = array_field(json, "vocab", where);
  if (vocab.empty() || vocab.size() > kMaxPieces)
    refuse_tokenizer_file(where, fmt::format("vocab: expected 1..{} pieces, got {}", kMaxPieces, vocab.size()));
  for (const Json& entry : vocab) add_piece(entry, unigram, where);
  const Json& unk_id = member(json, "unk_id");
  if (!unk_id.is_integer() || unk_id.as_integer() < 0 || unk_id.as_integer() >= static_cast<int64_t>(vocab.size()))
    refuse_tokenizer_file(where, fmt::format("unk_id: expected 0..{}, got {}", vocab.size() - 1, unk_id.describe()));
  unigram.model.unk_id = static_cast<int32_t>(unk_id.as_integer());
  unigram.model.byte_fallback = bool_field(json, "byte_fallback", false, where);
  index_pieces(unigram.model, where);
  read_byte_pieces(unigram.model);
}

std::unique_ptr<const TextModel> make_unigram(const Json& root, const Json& json, const std::vector<AddedToken>& added,
                                              const std::string& path) {
  JsonNormalizer normalizer(member(root, "normalizer"), path + ": normalizer");
  JsonUnigram unigram{{}, {}, std::move(normalizer), read_unigram_pre_tokenizer(root, path), {}, {}};
  read_unigram(json, unigram, path + ": model");
  unigram.is_special.resize(unigram.scores.size());
  for (const AddedToken& token : added) {
    const auto id = token.is_special ? unigram.model.id_of(token.content) : std::nullopt;
    if (id) unigram.is_special[static_cast<size_t>(*id)] = true;
  }
  unigram.tokens = tokens_of_model(added, unigram.normalizer, path);
  return make_json_text_model(std::move(unigram));
}

// ---- byte-level BPE

void check_byte_level(const Json& component, bool has_split, const std::string& where) {
  const std::string& type = component_type(component, where);
  if (type != "ByteLevel") refuse_component(type, where);
  if (bool_field(component, "add_prefix_space", where)) {
    throw Error(ErrorCode::kUnsupported, where,
                "add_prefix_space: expected false, got true; put the space into the texts");
  }
  if (bool_field(component, "use_regex", true, where) == has_split)
    refuse_tokenizer_file(where, "expected words to be cut once, by ByteLevel or by Split");
}

void check_split(const Json& component, const std::string& where) {
  const std::string& type = component_type(component, where);
  if (type != "Split") refuse_component(type, where);
  const Pattern pattern = pattern_field(component, where);
  if (!pattern.is_regex || pattern.text != kGpt2Pattern) refuse_pattern(pattern.text, where);
  if (string_field(component, "behavior", where) != "Isolated" || bool_field(component, "invert", false, where)) {
    throw Error(ErrorCode::kUnsupported, where, "Split: expected the behavior Isolated, not inverted");
  }
}

// ByteLevel, which cuts words by GPT-2's pattern, or Split by that pattern and a ByteLevel that does not.
void check_bpe_pre_tokenizer(const Json& root, const std::string& path) {
  const std::string where = path + ": pre_tokenizer";
  const auto components = components_of(member(root, "pre_tokenizer"), "pretokenizers", where);
  const bool has_split = components.size() == 2;
  if (has_split) check_split(*components.front(), where);
  for (size_t i = has_split ? 1 : 0; i < components.size(); ++i) check_byte_level(*components[i], has_split, where);
  if (components.empty() || components.size() > 2)
    refuse_tokenizer_file(where, fmt::format("expected ByteLevel, got {} components", components.size()));
}

// Switches of the BPE model that DeBERTa leaves off.
void check_bpe_options(const Json& json, const std::string& where) {
  const auto refuse = [&](std::string_view key, std::string_view expected) {
    throw Error(ErrorCode::kUnsupported, where,
                fmt::format("{}: expected {}, got {}", key, expected, member(json, key).describe()));
  };
  for (const char* key : {"fuse_unk", "byte_fallback", "ignore_merges"}) {
    if (bool_field(json, key, false, where)) refuse(key, "false");
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const Json& value = member(json, key);
    if (!value.is_null() && !string_field(json, key, where).empty()) refuse(key, "null");
  }
  const Json& dropout = member(json, "dropout");
  if (!dropout.is_null() && !(dropout.is_number() && dropout.as_number() == 0)) refuse("dropout", "null");
}

BpeMergeTexts read_merges(const Json& json, const std::string& where) {
  const JsonArray& list = array_field(json, "merges", where);
  BpeMergeTexts merges;
  for (const Json& merge : list) {
    const bool is_pair = merge.is_array() && merge.as_array().size() == 2 && merge.as_array()[0].is_string() &&
                         merge.as_array()[1].is_string();
    if (is_pair) {
      merges.emplace_back(merge.as_array()[0].as_string(), merge.as_array()[1].as_string());
      continue;
    }
    const std::string_view text = merge.is_string() ? std::string_view(merge.as_string()) : std::string_view();
    const size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) {
      refuse_tokenizer_file(where, fmt::format("merge {}: expected \"left right\" or [left, right], got {}",
                                               merges.size() + 1, merge.describe()));
    }
    merges.emplace_back(text.substr(0, space), text.substr(space + 1));
  }
  return merges;
}

std::unique_ptr<const TextModel> make_bpe(const Json& root, const Json& json, const std::vector<AddedToken>& added,
                                          const std::string& path) {
  const std::string where = path + ": model";
  const JsonNormalizer normalizer(member(root, "normalizer"), path + ": normalizer");
  if (!normalizer.is_empty()) {
    throw Error(ErrorCode::kUnsupported, path,
                fmt::format("normalizer: expected null beside BPE, got {}", member(root, "normalizer").describe()));
  }
  check_bpe_pre_tokenizer(root, path);
  check_bpe_options(json, where);
  std::vector<std::string> pieces = read_bpe_vocab(member(json, "vocab"), where + ": vocab");
  const BpeMergeTexts merges = read_merges(json, where);
  BpeModel model = make_bpe_model(std::move(pieces), where + ": vocab", merges, where + ": merges");
  if (model.ids_by_text.size() != model.pieces.size())
    refuse_tokenizer_file(where, fmt::format("vocab: expected a piece for each id in 0..{}", model.pieces.size() - 1));
  const auto missing = std::find(model.byte_ids.begin(), model.byte_ids.end(), kUnknownToken);
  if (missing != model.byte_ids.end()) {
    refuse_tokenizer_file(where, fmt::format("vocab: expected a piece for every byte, got none for {}",
                                             missing - model.byte_ids.begin()));
  }
  return make_bpe_text_model(std::move(model), tokens_of_model(added, normalizer, path));
}

}  // namespace

TokenizerJson load_tokenizer_json(const std::string& path) {
  const Json root = load_json(path, kLimits);
  if (!root.is_object()) refuse_tokenizer_file(path, fmt::format("expected an object, got {}", root.describe()));
  const std::string where = path + ": model";
  const Json& json = member(root, "model");
  const std::string& type = component_type(json, where);
  check_decoder(member(root, "decoder"), path + ": decoder");
  TokenizerJson result{nullptr, read_added_tokens(root, path)};
  if (type == "Unigram") {
    result.model = make_unigram(root, json, *result.added, path);
  } else if (type == "BPE") {
    result.model = make_bpe(root, json, *result.added, path);
  } else {
    refuse_component(type, where);
  }
  check_added_ids(*result.added, *result.model, result.model->size(), path);
  return result;
}

}  // namespace deberta
