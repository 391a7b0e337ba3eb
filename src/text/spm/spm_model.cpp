// Field numbers are those of sentencepiece_model.proto.
#include "text/spm/spm_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/file.h"
#include "base/json.h"
#include "base/utf8.h"
#include "deberta/error.h"
#include "text/spm/wire.h"
#include "text/text_order.h"

namespace deberta {
namespace {

constexpr uint64_t kUnigram = 1;

[[noreturn]] void refuse_spm(const std::string& where, const std::string& message) {
  throw Error(ErrorCode::kTokenizerFile, where, message);
}

[[noreturn]] void refuse_unsupported(const std::string& where, const std::string& message) {
  throw Error(ErrorCode::kUnsupported, where, message);
}

// A known field must have its wire type: a reader that took another would read garbage.
void check_type(const WireField& field, WireType expected, const std::string& where, std::string_view name) {
  if (field.type == expected) return;
  refuse_spm(where, fmt::format("{}: expected wire type {}, got {}", name, static_cast<int>(expected),
                                static_cast<int>(field.type)));
}

bool take_bool(const WireField& field, const std::string& where, std::string_view name) {
  check_type(field, WireType::kVarint, where, name);
  return field.value != 0;
}

void check_piece(const SpmPiece& piece, size_t id, const std::string& where) {
  const auto fail = [&](const std::string& message) { refuse_spm(where, fmt::format("piece {}: {}", id, message)); };
  if (piece.text.empty()) fail("expected a string, got none");
  if (piece.text.size() > kMaxPieceBytes)
    fail(fmt::format("expected at most {} bytes, got {}", kMaxPieceBytes, piece.text.size()));
  if (!is_valid_utf8(piece.text)) fail("expected valid UTF-8");
  if (!std::isfinite(piece.score)) fail("expected a finite score");
}

SpmPiece parse_piece(std::string_view message, size_t id, const std::string& where) {
  SpmPiece piece;
  WireReader reader(message, where);
  for (WireField field; reader.next(field);) {
    switch (field.number) {
      case 1:
        check_type(field, WireType::kBytes, where, "piece");
        piece.text = field.bytes;
        break;
      case 2:
        check_type(field, WireType::kFixed32, where, "score");
        piece.score = std::bit_cast<float>(static_cast<uint32_t>(field.value));
        break;
      case 3:
        check_type(field, WireType::kVarint, where, "type");
        if (field.value < 1 || field.value > 6) {
          refuse_spm(where, fmt::format("piece {}: expected a type in 1..6, got {}", id, field.value));
        }
        piece.type = static_cast<PieceType>(field.value);
        break;
      default:
        break;
    }
  }
  check_piece(piece, id, where);
  return piece;
}

void parse_trainer(std::string_view message, SpmModel& model, const std::string& where) {
  WireReader reader(message, where);
  for (WireField field; reader.next(field);) {
    switch (field.number) {
      case 3:
        check_type(field, WireType::kVarint, where, "model_type");
        if (field.value != kUnigram) {
          refuse_unsupported(
              where,
              fmt::format("model_type: expected 1 (unigram), got {}; only unigram models are supported", field.value));
        }
        break;
      case 24:
        if (take_bool(field, where, "treat_whitespace_as_suffix")) {
          refuse_unsupported(where, "treat_whitespace_as_suffix: expected false, got true; no DeBERTa model has it");
        }
        break;
      case 35:
        model.byte_fallback = take_bool(field, where, "byte_fallback");
        break;
      case 40:
        check_type(field, WireType::kVarint, where, "unk_id");
        model.trainer_unk_id = field.value;
        break;
      default:
        break;
    }
  }
}

void parse_normalizer(std::string_view message, SpmModel& model, const std::string& where) {
  WireReader reader(message, where);
  for (WireField field; reader.next(field);) {
    switch (field.number) {
      case 2:
        check_type(field, WireType::kBytes, where, "precompiled_charsmap");
        model.charsmap = field.bytes;
        break;
      case 3:
        model.add_dummy_prefix = take_bool(field, where, "add_dummy_prefix");
        break;
      case 4:
        model.remove_extra_whitespaces = take_bool(field, where, "remove_extra_whitespaces");
        break;
      case 5:
        model.escape_whitespaces = take_bool(field, where, "escape_whitespaces");
        break;
      default:
        break;
    }
  }
}

void refuse_denormalizer(std::string_view message, const std::string& where) {
  SpmModel denormalizer;
  parse_normalizer(message, denormalizer, where);
  if (!denormalizer.charsmap.empty())
    refuse_unsupported(where, "denormalizer_spec: expected no rules; decoding would need them");
}

SpmModel parse_fields(std::string_view bytes, const std::string& where) {
  SpmModel model;
  WireReader reader(bytes, where);
  for (WireField field; reader.next(field);) {
    if (field.number < 1 || field.number > 5) continue;
    check_type(field, WireType::kBytes, where, "a part of the model");
    switch (field.number) {
      case 1:
        if (model.pieces.size() == kMaxPieces) refuse_spm(where, fmt::format("expected at most {} pieces", kMaxPieces));
        model.pieces.push_back(parse_piece(field.bytes, model.pieces.size(), where));
        break;
      case 2:
        parse_trainer(field.bytes, model, where);
        break;
      case 3:
        parse_normalizer(field.bytes, model, where);
        break;
      case 5:
        refuse_denormalizer(field.bytes, where);
        break;
      default:
        break;  // the trainer's self-test: its scores come from another program
    }
  }
  return model;
}

void find_unknown(SpmModel& model, const std::string& where) {
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    if (model.pieces[id].type != PieceType::kUnknown) continue;
    if (model.unk_id >= 0)
      refuse_spm(where, fmt::format("expected one unknown piece, got {} and {}", model.unk_id, id));
    model.unk_id = static_cast<int32_t>(id);
  }
  if (model.unk_id < 0) refuse_spm(where, "expected one unknown piece, got none");
}

void find_byte_pieces(SpmModel& model, const std::string& where) {
  size_t byte_pieces = 0;
  for (size_t id = 0; id < model.pieces.size(); ++id) {
    if (model.pieces[id].type != PieceType::kByte) continue;
    const auto byte = parse_byte_piece(model.pieces[id].text);
    if (!byte)
      refuse_spm(where, fmt::format("byte piece {}: expected <0xHH>, got {}", id, quote_json(model.pieces[id].text)));
    model.byte_ids[*byte] = static_cast<int32_t>(id);
    ++byte_pieces;
  }
  const size_t expected = model.byte_fallback ? 256 : 0;
  if (byte_pieces != expected) {
    refuse_spm(where, fmt::format("expected {} byte pieces (byte_fallback is {}), got {}", expected,
                                  model.byte_fallback, byte_pieces));
  }
}

}  // namespace

std::optional<uint8_t> parse_byte_piece(std::string_view text) {
  if (text.size() != 6 || !text.starts_with("<0x") || text[5] != '>') return std::nullopt;
  unsigned value = 0;
  for (const char c : text.substr(3, 2)) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && !(c >= 'A' && c <= 'F')) return std::nullopt;
    value = value * 16 + static_cast<unsigned>(is_digit ? c - '0' : c - 'A' + 10);
  }
  return static_cast<uint8_t>(value);
}

std::optional<int32_t> SpmModel::id_of(std::string_view text) const {
  const auto piece_text = [&](int32_t id) { return std::string_view(pieces[static_cast<size_t>(id)].text); };
  const auto entry = std::lower_bound(ids_by_text.begin(), ids_by_text.end(), text,
                                      [&](int32_t id, std::string_view wanted) { return piece_text(id) < wanted; });
  if (entry == ids_by_text.end() || piece_text(*entry) != text) return std::nullopt;
  return *entry;
}

void index_pieces(SpmModel& model, const std::string& where) {
  std::vector<std::string_view> texts;
  texts.reserve(model.pieces.size());
  for (const SpmPiece& piece : model.pieces) texts.emplace_back(piece.text);
  const std::vector<uint32_t> order = text_order(texts);
  for (size_t i = 1; i < order.size(); ++i) {
    if (texts[order[i - 1]] == texts[order[i]]) {
      refuse_spm(where,
                 fmt::format("pieces {} and {} are equal: {}", order[i - 1], order[i], quote_json(texts[order[i]])));
    }
  }
  model.ids_by_text.assign(order.begin(), order.end());
}

SpmModel parse_spm_model(std::string_view bytes, const std::string& where) {
  if (bytes.size() > kMaxSpmFileBytes)
    refuse_spm(where, fmt::format("expected at most {} bytes, got {}", kMaxSpmFileBytes, bytes.size()));
  SpmModel model = parse_fields(bytes, where);
  if (model.pieces.empty()) refuse_spm(where, "expected pieces, got none; is this a SentencePiece model?");
  index_pieces(model, where);
  find_unknown(model, where);
  find_byte_pieces(model, where);
  return model;
}

SpmModel load_spm_model(const std::string& path) {
  return parse_spm_model(read_file(path, kMaxSpmFileBytes), path);
}

}  // namespace deberta
