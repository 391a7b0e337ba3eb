// Every file is checked as the tokenizers library 0.22 would read it; where it would only warn, or take an id other
// than the file's, the file is refused.
#include "text/hf_json/tokenizer_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <unordered_set>

#include "base/json.h"
#include "base/utf8.h"
#include "deberta/error.h"
#include "text/bpe/bpe_model.h"
#include "text/bpe/bpe_text_model.h"
#include "text/hf_json/json_fields.h"
#include "text/hf_json/json_scores.h"
#include "text/hf_json/json_text_model.h"
#include "text/spm/normalizer.h"
#include "text/word_piece/word_piece_text_model.h"

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

// How ids become text is decided here, not by the file; its decoder must still be DeBERTa's.
void check_decoder(const Json& decoder, const std::string& where) {
  constexpr std::array<std::string_view, 7> kKnown = {"ByteLevel", "Metaspace", "ByteFallback", "Fuse",
                                                      "Replace",   "Strip",     "WordPiece"};
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
  if (token.content.size() > kMaxPieceBytes) {
    refuse_tokenizer_file(
        where, fmt::format("expected a token of at most {} bytes, got {}", kMaxPieceBytes, token.content.size()));
  }
  if (token.content.find('\0') != std::string::npos) refuse_tokenizer_file(where, "expected a token without NUL");
  if (!is_valid_utf8(token.content)) refuse_tokenizer_file(where, "expected a token without lone surrogates");
  const Json& id = member(value, "id");
  if (!id.is_integer() || id.as_integer() < 0 || id.as_integer() >= static_cast<int64_t>(2 * kMaxPieces))
    refuse_tokenizer_file(where, fmt::format("id: expected 0..{}, got {}", 2 * kMaxPieces - 1, id.describe()));
  token.id = static_cast<int32_t>(id.as_integer());
  token.strips_left = bool_field(value, "lstrip", false, where);
  token.strips_right = bool_field(value, "rstrip", false, where);
  token.is_special = bool_field(value, "special", false, where);
  token.is_normalized = bool_field(value, "normalized", !token.is_special, where);
  token.is_of_model = token.is_normalized;
  token.is_single_word = bool_field(value, "single_word", false, where);
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
  for (const Json& value : list.as_array()) {
    AddedToken token = parse_added_token(value, where);
    if (!token.content.empty()) tokens.push_back(std::move(token));  // a token without a text is never added
  }
  return tokens;
}

// A token that is a piece has the piece's id; the others follow the pieces in the order of the file.
void check_added_ids(const std::vector<AddedToken>& tokens, const TextModel& model, size_t pieces,
                     const std::string& path) {
  auto next = static_cast<int32_t>(pieces);
  std::unordered_set<std::string_view> seen;
  for (const AddedToken& token : tokens) {
    if (!seen.insert(token.content).second)
      refuse_tokenizer_file(path, fmt::format("added_tokens: {} appears twice", quote_json(token.content)));
    const std::optional<int32_t> piece = model.id_of(token.content);
    const int32_t expected = piece ? *piece : next++;
    if (token.id != expected) {
      refuse_tokenizer_file(
          path, fmt::format("added_tokens: {}: expected id {}, got {}", quote_json(token.content), expected, token.id));
    }
  }
}

// ---- Unigram

// Components that cut, and at the end the one that rewrites spaces.
void read_unigram_pre_tokenizer(const Json& root, JsonUnigram& unigram, const std::string& path) {
  const std::string where = path + ": pre_tokenizer";
  const auto components = components_of(member(root, "pre_tokenizer"), "pretokenizers", where);
  size_t metaspaces = 0;
  for (const Json* component : components) {
    const std::string& type = component_type(*component, where);
    if (type == "Metaspace") {
      unigram.metaspace = read_metaspace(*component, where);
      ++metaspaces;
    } else {
      unigram.pre_tokenizer.add(*component, where);
    }
  }
  if (metaspaces != 1) refuse_tokenizer_file(where, fmt::format("expected one Metaspace, got {}", metaspaces));
  if (component_type(*components.back(), where) != "Metaspace")
    throw Error(ErrorCode::kUnsupported, where, "expected Metaspace as the last pre-tokenizer");
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
  if (!is_valid_utf8(text))
    refuse_tokenizer_file(where, fmt::format("piece {}: expected a text without lone surrogates", id));
  unigram.model.pieces.push_back({text, 0, PieceType::kNormal});
  const double score = entry.as_array()[1].as_number();
  if (!std::isfinite(score)) refuse_tokenizer_file(where, fmt::format("piece {}: expected a finite score", id));
  unigram.scores.push_back(library_score(score));
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

std::unique_ptr<TextModel> make_unigram(const Json& root, const Json& json, const std::string& path) {
  JsonUnigram unigram;
  unigram.normalizer = JsonNormalizer(member(root, "normalizer"), path + ": normalizer");
  read_unigram_pre_tokenizer(root, unigram, path);
  read_unigram(json, unigram, path + ": model");
  return make_json_text_model(std::move(unigram), path);
}

// ---- WordPiece

std::unique_ptr<TextModel> make_word_piece(const Json& root, const Json& json, const TokenizerSettings& settings,
                                           TokenizerClass of_class, const std::string& path) {
  const std::string where = path + ": model";
  JsonWordPiece parts;
  parts.normalizer = JsonNormalizer(member(root, "normalizer"), path + ": normalizer");
  if (of_class == TokenizerClass::kBert)
    parts.normalizer.change_bert([&](BertRules& rules) { change_bert_rules(settings, rules); });
  const std::string pre_where = path + ": pre_tokenizer";
  for (const Json* component : components_of(member(root, "pre_tokenizer"), "pretokenizers", pre_where))
    parts.pre_tokenizer.add(*component, pre_where);
  if (parts.pre_tokenizer.asks_for_begin() && parts.normalizer.may_move_begin(""))
    throw Error(ErrorCode::kUnsupported, pre_where,
                "prepend_scheme: expected always or never of WordPiece behind a charsmap or a replacement, got first");
  parts.model.pieces = read_bpe_vocab(member(json, "vocab"), where + ": vocab");
  parts.model.prefix = string_field(json, "continuing_subword_prefix", where);
  const Json& longest = member(json, "max_input_chars_per_word");
  if (!longest.is_integer() || longest.as_integer() < 0) {
    refuse_tokenizer_file(where,
                          fmt::format("max_input_chars_per_word: expected a number, got {}", longest.describe()));
  }
  parts.model.max_characters = static_cast<size_t>(longest.as_integer());
  index_pieces(parts.model, where + ": vocab");
  const std::string& unknown = string_field(json, "unk_token", where);
  const auto unk_id = parts.model.id_of(unknown);
  if (!unk_id) refuse_tokenizer_file(where, fmt::format("unk_token: expected a piece, got {}", quote_json(unknown)));
  parts.unk_id = *unk_id;
  return make_json_word_piece(std::move(parts), path);
}

// ---- byte-level BPE

bool read_byte_level(const Json& component, bool has_split, const std::string& where) {
  const std::string& type = component_type(component, where);
  if (type != "ByteLevel") refuse_component(type, where);
  if (bool_field(component, "use_regex", true, where) == has_split)
    refuse_tokenizer_file(where, "expected exactly one split into words, by ByteLevel or Split");
  return bool_field(component, "add_prefix_space", where);
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

// ByteLevel that cuts words by GPT-2's pattern, or Split by that pattern and a ByteLevel that does not cut.
// transformers changes whether it adds a space only if ByteLevel is alone.
struct ByteLevel {
  bool adds_prefix_space = false;
  bool is_alone = true;
};

ByteLevel read_bpe_pre_tokenizer(const Json& root, const std::string& path) {
  const std::string where = path + ": pre_tokenizer";
  const Json& value = member(root, "pre_tokenizer");
  const auto components = components_of(value, "pretokenizers", where);
  if (components.empty() || components.size() > 2)
    refuse_tokenizer_file(where, fmt::format("expected ByteLevel, got {} components", components.size()));
  const bool has_split = components.size() == 2;
  if (has_split) check_split(*components.front(), where);
  const bool adds = read_byte_level(*components.back(), has_split, where);
  if (adds && has_split) {
    throw Error(ErrorCode::kUnsupported, where,
                "add_prefix_space: expected false after Split, got true; put the space into the texts");
  }
  return {adds, components.front() == &value};
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

std::unique_ptr<TextModel> make_bpe(const Json& root, const Json& json, const std::string& path) {
  const std::string where = path + ": model";
  const JsonNormalizer normalizer(member(root, "normalizer"), path + ": normalizer");
  if (!normalizer.is_empty()) {
    throw Error(ErrorCode::kUnsupported, path,
                fmt::format("normalizer: expected null with BPE, got {}", member(root, "normalizer").describe()));
  }
  check_bpe_options(json, where);
  std::vector<std::string> pieces = read_bpe_vocab(member(json, "vocab"), where + ": vocab");
  const BpeMergeTexts merges = read_merges(json, where);
  BpeModel model = make_bpe_model(std::move(pieces), where + ": vocab", merges, where + ": merges");
  check_complete(model, where);
  return make_bpe_text_model(std::move(model));
}

}  // namespace

void check_complete(const BpeModel& model, const std::string& where) {
  if (model.ids_by_text.size() != model.pieces.size())
    refuse_tokenizer_file(where, fmt::format("vocab: expected a piece for each id in 0..{}", model.pieces.size() - 1));
  const auto missing = std::find(model.byte_ids.begin(), model.byte_ids.end(), kUnknownToken);
  if (missing != model.byte_ids.end()) {
    refuse_tokenizer_file(where, fmt::format("vocab: expected a piece for every byte, got none for {}",
                                             missing - model.byte_ids.begin()));
  }
}

TokenizerDocument read_tokenizer_json(const std::string& path) {
  TokenizerDocument document{load_python_json(path, kLimits), path, {}};
  const Json& root = document.root;
  if (!root.is_object()) refuse_tokenizer_file(path, fmt::format("expected an object, got {}", root.describe()));
  document.added = read_added_tokens(root, path);
  return document;
}

TokenizerJson make_tokenizer_json(const TokenizerDocument& document, TokenizerClass of_class,
                                  const TokenizerSettings& settings) {
  const Json& root = document.root;
  const std::string& path = document.path;
  const std::string where = path + ": model";
  const Json& json = member(root, "model");
  const std::string& type = component_type(json, where);
  check_decoder(member(root, "decoder"), path + ": decoder");
  TokenizerJson result;
  if (type == "Unigram") {
    result.model = make_unigram(root, json, path);
  } else if (type == "BPE") {
    const ByteLevel level = read_bpe_pre_tokenizer(root, path);
    result.adds_prefix_space = level.adds_prefix_space;
    result.may_change_prefix = level.is_alone;
    result.model = make_bpe(root, json, path);
  } else if (type == "WordPiece") {
    result.model = make_word_piece(root, json, settings, of_class, path);
  } else {
    refuse_component(type, where);
  }
  check_added_ids(document.added, *result.model, result.model->size(), path);
  result.around = read_token_template(member(root, "post_processor"), path + ": post_processor");
  return result;
}

}  // namespace deberta
