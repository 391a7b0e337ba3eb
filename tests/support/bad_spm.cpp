#include "support/bad_spm.h"

#include <bit>
#include <limits>
#include <map>

namespace deberta::test {
namespace {

std::string varint(uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  return out + static_cast<char>(value);
}

std::string little_endian(uint32_t value) {
  std::string out;
  for (int shift = 0; shift < 32; shift += 8) out += static_cast<char>(value >> shift);
  return out;
}

std::string key(uint32_t field, uint32_t type) { return varint(uint64_t{field} << 3 | type); }

}  // namespace

std::string wire_varint(uint32_t field, uint64_t value) { return key(field, 0) + varint(value); }
std::string wire_bytes(uint32_t field, std::string_view bytes) {
  return key(field, 2) + varint(bytes.size()) + std::string(bytes);
}
std::string wire_float(uint32_t field, float value) {
  return key(field, 5) + little_endian(std::bit_cast<uint32_t>(value));
}

SpmSpec small_spm(std::vector<SpmPieceSpec> pieces) {
  SpmSpec spec;
  spec.pieces = {{"[PAD]", 0, kControl}, {"[CLS]", 0, kControl}, {"[SEP]", 0, kControl}, {"[UNK]", 0, kUnknown}};
  spec.pieces.insert(spec.pieces.end(), pieces.begin(), pieces.end());
  return spec;
}

SpmSpec with_bytes(SpmSpec spec) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  for (size_t byte = 0; byte < 256; ++byte) {
    spec.pieces.push_back({std::string("<0x") + kDigits[byte / 16] + kDigits[byte % 16] + ">", 0, kByte});
  }
  spec.byte_fallback = true;
  return spec;
}

std::string make_piece(const SpmPieceSpec& piece) {
  return wire_bytes(1, wire_bytes(1, piece.text) + wire_float(2, piece.score) + wire_varint(3, piece.type));
}

std::string make_spm(const SpmSpec& spec) {
  std::string out;
  for (const SpmPieceSpec& piece : spec.pieces) out += make_piece(piece);
  out += wire_bytes(2, wire_varint(3, spec.model_type) + wire_varint(24, spec.whitespace_as_suffix) +
                           wire_varint(35, spec.byte_fallback));
  out += wire_bytes(3, wire_bytes(2, spec.charsmap) + wire_varint(3, spec.add_dummy_prefix) +
                           wire_varint(4, spec.remove_extra_whitespaces) + wire_varint(5, spec.escape_whitespaces));
  return out;
}

std::string join_charsmap(uint32_t table_bytes, const std::vector<uint32_t>& units, std::string_view replacements) {
  std::string out = little_endian(table_bytes);
  for (const uint32_t unit : units) out += little_endian(unit);
  return out + std::string(replacements);
}

// Every node gets a block of 256 units for its children: wasteful, but each distance is then easy to write.
std::string make_charsmap(const CharsmapRules& rules) {
  std::map<std::string, uint32_t> nodes{{"", 0}};  // prefix to unit
  std::vector<uint32_t> units(256, 0);
  std::string replacements;
  const auto open = [&](const std::string& prefix) {  // the base of the children
    const uint32_t unit = nodes.at(prefix);
    if (units[unit] >> 10 == 0) {
      const auto base = static_cast<uint32_t>(units.size());
      units.resize(units.size() + 256, 0);
      units[unit] |= (unit ^ base) << 10;
    }
    return unit ^ (units[unit] >> 10);
  };
  for (const auto& [from, to] : rules) {
    std::string prefix;
    for (const char c : from) {
      const uint32_t child = open(prefix) ^ static_cast<uint8_t>(c);
      prefix += c;
      if (nodes.emplace(prefix, child).second) units[child] |= static_cast<uint8_t>(c);
    }
    const uint32_t base = open(prefix);
    units[nodes.at(prefix)] |= 0x100;
    units[base] = 0x80000000U | static_cast<uint32_t>(replacements.size());
    replacements += to + '\0';
  }
  return join_charsmap(static_cast<uint32_t>(units.size() * 4), units, replacements);
}

}  // namespace deberta::test
