// SentencePiece files made in code: small valid ones, and the table of hostile ones.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deberta::test {

// One field of a protobuf message.
std::string wire_varint(uint32_t field, uint64_t value);
std::string wire_bytes(uint32_t field, std::string_view bytes);
std::string wire_float(uint32_t field, float value);

enum SpmType : uint64_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

struct SpmPieceSpec {
  std::string text;
  float score = 0;
  uint64_t type = kNormal;
};

struct SpmSpec {
  std::vector<SpmPieceSpec> pieces;
  std::string charsmap;
  uint64_t model_type = 1;
  bool byte_fallback = false;
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
  bool whitespace_as_suffix = false;
};

// [PAD] [CLS] [SEP] [UNK] with ids 0..3, then the pieces given.
SpmSpec small_spm(std::vector<SpmPieceSpec> pieces);
// Adds the 256 byte pieces and the flag.
SpmSpec with_bytes(SpmSpec spec);

std::string make_piece(const SpmPieceSpec& piece);
std::string make_spm(const SpmSpec& spec);

using CharsmapRules = std::vector<std::pair<std::string, std::string>>;
std::string make_charsmap(const CharsmapRules& rules);
// The parts of a charsmap put together without any check.
std::string join_charsmap(uint32_t table_bytes, const std::vector<uint32_t>& units, std::string_view replacements);

struct HostileFile {
  std::string name;
  std::string bytes;
  std::string part;             // part of the message
  bool is_unsupported = false;  // kUnsupported, not kTokenizerFile
};
std::vector<HostileFile> hostile_spm_files();

}  // namespace deberta::test
