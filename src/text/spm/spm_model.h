// A SentencePiece model file: pieces with scores and types, the normaliser's settings. Unigram models only.
// Reading and checking; nothing is built from it here.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deberta {

enum class PieceType : uint8_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

struct SpmPiece {
  std::string text;
  float score = 0;
  PieceType type = PieceType::kNormal;
};

struct SpmModel {
  std::vector<SpmPiece> pieces;      // by id
  std::vector<int32_t> ids_by_text;  // sorted by text
  int32_t unk_id = -1;
  uint64_t trainer_unk_id = 0;  // by the trainer's settings, which the library's fast tokenizer reads
  bool byte_fallback = false;
  std::array<int32_t, 256> byte_ids{};  // valid when byte_fallback
  std::string charsmap;                 // precompiled_charsmap, unchecked (charsmap.h)
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;

  std::optional<int32_t> id_of(std::string_view text) const;
};

constexpr uint64_t kMaxSpmFileBytes = uint64_t{64} << 20;
constexpr size_t kMaxPieces = size_t{1} << 20;
constexpr size_t kMaxPieceBytes = 1024;

// The byte of `<0xHH>`, two capital hexadecimal digits.
std::optional<uint8_t> parse_byte_piece(std::string_view text);

// Fills ids_by_text. Throws kTokenizerFile for two equal pieces.
void index_pieces(SpmModel& model, const std::string& where);

// `where` names the file in messages. Throws kTokenizerFile, and kUnsupported for a model of another algorithm.
SpmModel parse_spm_model(std::string_view bytes, const std::string& where);

// Throws what parse_spm_model and read_file throw.
SpmModel load_spm_model(const std::string& path);

}  // namespace deberta
