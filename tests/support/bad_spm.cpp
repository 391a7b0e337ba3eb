#include "support/bad_spm.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>

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

std::string key(uint32_t field, uint32_t type) {
  return varint(uint64_t{field} << 3 | type);
}

}  // namespace

std::string wire_varint(uint32_t field, uint64_t value) {
  return key(field, 0) + varint(value);
}
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

namespace {

// The labels under a node: the bytes that continue a key, and 0 where a key ends.
using Trie = std::map<std::pair<size_t, std::string>, std::set<uint8_t>>;  // by size and prefix: parents first

Trie trie_of(const CharsmapRules& rules) {
  Trie trie;
  for (const auto& rule : rules) {
    const std::string& from = rule.first;
    for (size_t size = 0; size < from.size(); ++size)
      trie[{size, from.substr(0, size)}].insert(static_cast<uint8_t>(from[size]));
    trie[{from.size(), from}].insert(0);
  }
  return trie;
}

// The first base that no other node uses and that has free units for all labels.
uint32_t find_base(const std::set<uint8_t>& labels, const std::set<uint32_t>& bases, const std::set<uint32_t>& used) {
  for (uint32_t base = 1;; ++base) {
    const auto is_taken = [&](uint8_t label) { return used.contains(base ^ label); };
    if (!bases.contains(base) && std::none_of(labels.begin(), labels.end(), is_taken)) return base;
  }
}

}  // namespace

std::string make_charsmap(const CharsmapRules& rules) {
  std::map<std::string, uint32_t> values;  // offset of the replacement
  std::string replacements;
  for (const auto& [from, to] : rules) {
    values[from] = static_cast<uint32_t>(replacements.size());
    replacements += to + '\0';
  }
  std::map<std::string, uint32_t> nodes{{"", 0}};  // prefix to unit
  std::vector<uint32_t> units(256, 0);
  std::set<uint32_t> bases, used{0};
  for (const auto& [key, labels] : trie_of(rules)) {
    const std::string& prefix = key.second;
    const uint32_t node = nodes.at(prefix), base = find_base(labels, bases, used);
    bases.insert(base);
    units.resize(std::max<size_t>(units.size(), (base / 256 + 1) * 256), 0);
    units[node] |= (node ^ base) << 10 | (values.contains(prefix) ? 0x100U : 0U);
    for (const uint8_t label : labels) {
      const uint32_t child = base ^ label;
      used.insert(child);
      units[child] = label == 0 ? 0x80000000U | values.at(prefix) : label;
      if (label != 0) nodes[prefix + static_cast<char>(label)] = child;
    }
  }
  return join_charsmap(static_cast<uint32_t>(units.size() * 4), units, replacements);
}

namespace {

SpmPieceSpec good() {
  return {"a", -1};
}
std::string with(const SpmPieceSpec& piece) {
  return make_spm(small_spm({piece}));
}
std::string and_then(const std::string& tail) {
  return make_spm(small_spm({good()})) + tail;
}
std::string with_charsmap(const std::string& blob) {
  SpmSpec spec = small_spm({good()});
  spec.charsmap = blob;
  return make_spm(spec);
}

void add_wire_cases(std::vector<HostileFile>& files) {
  const std::string many(10, '\xFF');
  files.push_back({"empty file", "", "expected pieces"});
  files.push_back({"one byte", "\x0A", "truncated varint"});
  files.push_back({"text", "not a model at all", "wire type"});
  files.push_back({"length beyond the file", and_then(key(1, 2) + varint(100)), "claims 100 bytes, 0 are left"});
  files.push_back(
      {"length 2^32 + 1", and_then(key(1, 2) + varint((uint64_t{1} << 32) + 1) + "x"), "claims 4294967297"});
  files.push_back({"length 2^64 - 1", and_then(key(1, 2) + varint(UINT64_MAX) + "x"), "claims 18446744073709551615"});
  files.push_back({"varint of 11 bytes", and_then(key(9, 0) + many + "\x01"), "varint"});
  files.push_back({"varint above 64 bits", and_then(key(9, 0) + many.substr(1) + "\x02"), "64 bits"});
  files.push_back({"varint without end", and_then(key(9, 0) + "\xFF"), "truncated varint"});
  files.push_back({"group start", and_then(key(9, 3)), "wire type 3"});
  files.push_back({"group end", and_then(key(9, 4)), "wire type 4"});
  files.push_back({"wire type 6", and_then(key(9, 6)), "wire type 6"});
  files.push_back({"wire type 7", and_then(key(9, 7)), "wire type 7"});
  files.push_back({"field number 0", and_then(varint(2) + varint(0)), "field number"});
  files.push_back({"field number 2^29", and_then(varint(uint64_t{1} << 32) + varint(0)), "field number"});
  files.push_back({"cut fixed32", and_then(key(9, 5) + "abc"), "truncated field 9"});
  files.push_back({"cut fixed64", and_then(key(9, 1) + "abcdefg"), "truncated field 9"});
  files.push_back({"pieces as a number", and_then(wire_varint(1, 5)), "wire type"});
  files.push_back({"score as a number", and_then(wire_bytes(1, wire_bytes(1, "z") + wire_varint(2, 1))), "score"});
  files.push_back({"text as a number", and_then(wire_bytes(1, wire_varint(1, 1))), "piece"});
}

void add_piece_cases(std::vector<HostileFile>& files) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  SpmSpec no_unknown = small_spm({good()});
  no_unknown.pieces.erase(no_unknown.pieces.begin() + 3);
  files.push_back({"empty piece", with({"", -1}), "expected a string"});
  files.push_back({"piece of 1025 bytes", with({std::string(1025, 'a'), -1}), "1024 bytes, got 1025"});
  files.push_back({"piece of invalid UTF-8", with({"\xC3", -1}), "UTF-8"});
  files.push_back({"overlong piece", with({"\xC0\x80", -1}), "UTF-8"});
  files.push_back({"surrogate piece", with({"\xED\xA0\x80", -1}), "UTF-8"});
  files.push_back({"score NaN", with({"a", nan}), "finite"});
  files.push_back({"score infinity", with({"a", infinity}), "finite"});
  files.push_back({"score -infinity", with({"a", -infinity}), "finite"});
  files.push_back({"type 0", with({"a", -1, 0}), "1..6, got 0"});
  files.push_back({"type 7", with({"a", -1, 7}), "1..6, got 7"});
  files.push_back({"type 2^32 + 1", with({"a", -1, (uint64_t{1} << 32) + 1}), "1..6"});
  files.push_back({"no unknown piece", make_spm(no_unknown), "got none"});
  files.push_back({"two unknown pieces", with({"<unk>", 0, kUnknown}), "got 3 and 4"});
  files.push_back({"equal pieces", make_spm(small_spm({{"a", -1}, {"a", -2}})), "pieces 4 and 5 are equal"});
  files.push_back({"a piece equal to a control piece", with({"[SEP]", -1}), "are equal"});
  files.push_back({"byte piece without the flag", with({"<0x41>", 0, kByte}), "expected 0 byte pieces"});
  SpmSpec flag_only = small_spm({good()});
  flag_only.byte_fallback = true;
  files.push_back({"the flag without byte pieces", make_spm(flag_only), "expected 256 byte pieces"});
  SpmSpec one_missing = with_bytes(small_spm({}));
  one_missing.pieces.pop_back();
  files.push_back({"255 byte pieces", make_spm(one_missing), "got 255"});
  for (const char* bad : {"<0x-1>", "<0xGG>", "<0x41", "0x41", "<0x041>", "<0xff>", "<0x 1>", "<0X41>"}) {
    SpmSpec spec = with_bytes(small_spm({}));
    spec.pieces.back().text = bad;
    files.push_back({std::string("byte piece ") + bad, make_spm(spec), "expected <0xHH>"});
  }
}

void add_kind_cases(std::vector<HostileFile>& files) {
  for (const uint64_t type : {0U, 2U, 3U, 4U, 99U}) {
    SpmSpec spec = small_spm({good()});
    spec.model_type = type;
    files.push_back({"model type " + std::to_string(type), make_spm(spec), "model_type", true});
  }
  SpmSpec suffix = small_spm({good()});
  suffix.whitespace_as_suffix = true;
  files.push_back({"space as suffix", make_spm(suffix), "treat_whitespace_as_suffix", true});
  files.push_back({"denormalizer rules", and_then(wire_bytes(5, wire_bytes(2, "rules"))), "denormalizer_spec", true});
}

void add_charsmap_cases(std::vector<HostileFile>& files) {
  const std::vector<uint32_t> zeros(256, 0);
  const auto add = [&](const char* name, const std::string& blob, const char* part) {
    files.push_back({std::string("charsmap: ") + name, with_charsmap(blob), part});
  };
  const auto add_root = [&](const char* name, uint32_t root, const std::string& replacements, const char* part) {
    std::vector<uint32_t> units = zeros;
    units[0] = root;
    units['a'] = 'a' | 0x100 | 1U << 10;  // 'a': children at 'a' ^ 1, with a value there
    units['a' ^ 1] = 0x80000000U;
    add(name, join_charsmap(1024, units, replacements), part);
  };
  add("three bytes", "abc", "at least 4 bytes");
  add("table larger than the blob", join_charsmap(2048, zeros, "x"), "table of 2048 bytes");
  add("table of 2^32 - 4 bytes", join_charsmap(0xFFFFFC00U, zeros, "x"), "bytes are left");
  add("empty table", join_charsmap(0, {}, std::string("x\0", 2)), "multiple of 1024");
  add("table of 1020 bytes", join_charsmap(1020, zeros, "x"), "multiple of 1024");
  add("table of 1023 bytes", join_charsmap(1023, zeros, "x"), "multiple of 1024");
  add("no replacements", join_charsmap(1024, zeros, ""), "end with NUL");
  add("replacements without NUL", join_charsmap(1024, zeros, "x"), "end with NUL");
  add_root("root's children outside", 0x200U | 0x3FFU << 10, std::string("x\0", 2), "the table has 256 units");
  add_root("replacement of invalid UTF-8", 0, std::string("\xFFx\0", 3), "UTF-8");
  add_root("replacement much longer than its key", 0, std::string(65, 'x') + '\0', "at most 64 bytes");
  std::vector<uint32_t> units = zeros;
  units['a'] = 'a' | 0x100 | 1U << 10;
  units['a' ^ 1] = 0x80000000U | 2;
  add("replacement outside", join_charsmap(1024, units, std::string("x\0", 2)), "there are 2 bytes");
  units['a'] = 'a' | 0x200U | 0xFFU << 10;
  add("a child's children outside", join_charsmap(1024, units, std::string("x\0", 2)), "the table has 256 units");
  add("a key of 300 bytes", make_charsmap({{std::string(300, 'a'), "b"}}), "at most 256 bytes");
}

}  // namespace

std::vector<HostileFile> hostile_spm_files() {
  std::vector<HostileFile> files;
  add_wire_cases(files);
  add_piece_cases(files);
  add_kind_cases(files);
  add_charsmap_cases(files);
  return files;
}

}  // namespace deberta::test
