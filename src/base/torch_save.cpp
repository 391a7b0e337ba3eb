// zip:    ROOT/data.pkl, ROOT/data/KEY for each storage, ROOT/version, ROOT/byteorder (newer files)
// legacy: pickles of a magic number, the protocol, facts on the writer's machine, the object and the list of keys;
//         then the storages
#include "base/torch_save.h"

#include <fmt/format.h>

#include <string_view>

#include "base/json.h"
#include "base/pickle_machine.h"
#include "base/utf8.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr std::string_view kZipSignature = "PK\3\4";
constexpr std::string_view kLegacyMagic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";  // LONG1, 10 bytes; STOP
constexpr int64_t kLegacyProtocol = 1001;
constexpr uint64_t kMaxFormatVersion = 10;

[[noreturn]] void refuse(const std::string& where, const std::string& message) {
  throw Error(ErrorCode::kBin, where, message);
}

std::string quote_short(std::string_view text) {
  return quote_json(replace_invalid_utf8(text.substr(0, 80)));
}

// ---- zip

const ZipEntry& find_entry(const ZipReader& zip, const std::string& name, const std::string& path) {
  const ZipEntry* entry = zip.find(name);
  if (entry == nullptr) refuse(path, fmt::format("expected {}{} in the archive", zip.root(), name));
  return *entry;
}

// Facts about the format that a file may state; they must match what is read here.
void check_statements(const ZipReader& zip, const std::string& path) {
  if (const ZipEntry* entry = zip.find("byteorder")) {
    const std::string_view order = to_text(zip.read(*entry));
    if (order != "little") refuse(path, fmt::format("byteorder: expected \"little\", got {}", quote_short(order)));
  }
  for (const std::string_view name : {"version", ".data/version"}) {
    const ZipEntry* entry = zip.find(name);
    if (entry == nullptr) continue;
    std::string_view text = to_text(zip.read(*entry));
    if (text.ends_with('\n')) text.remove_suffix(1);
    const auto version = parse_number<uint64_t>(text);
    if (!version || *version == 0 || *version > kMaxFormatVersion)
      refuse(path, fmt::format("{}: expected 1 to {}, got {}", name, kMaxFormatVersion, quote_short(text)));
  }
}

Pickle read_object(const ZipReader& zip, const std::string& path, std::span<const PickleGlobal> globals) {
  const ZipEntry& entry = find_entry(zip, "data.pkl", path);
  if (entry.bytes.size() > kMaxPickleBytes)
    refuse(path, fmt::format("data.pkl: expected at most {} bytes, got {}", kMaxPickleBytes, entry.bytes.size()));
  Pickle object = parse_pickle(zip.read(entry), path + ": data.pkl", globals);
  if (object.size_bytes() != entry.bytes.size())
    refuse(path, fmt::format("data.pkl: expected to end with STOP, got {} more bytes",
                             entry.bytes.size() - object.size_bytes()));
  return object;
}

// ---- legacy

// A legacy file front to back, pickle by pickle.
class LegacyReader {
 public:
  LegacyReader(Bytes file, const std::string& path, std::span<const PickleGlobal> globals)
      : rest_(file), path_(path), globals_(globals) {}

  Pickle pickle(std::string_view what) {
    Pickle value = parse_pickle(rest_, fmt::format("{}: {}", path_, what), globals_);
    rest_ = rest_.subspan(value.size_bytes());
    return value;
  }
  Bytes rest() const { return rest_; }

 private:
  Bytes rest_;
  const std::string& path_;
  std::span<const PickleGlobal> globals_;
};

// Size of the first pickle, the magic number alone; nothing when the file does not begin with it. Compared as raw
// bytes: no integer in a state dict is that long.
std::optional<size_t> find_legacy_magic(std::string_view file) {
  const bool has_protocol = file.size() >= 2 && file[0] == '\x80' && file[1] >= 2 && file[1] <= 5;
  if (!has_protocol) return std::nullopt;
  std::string_view rest = file.substr(2);
  constexpr std::string_view kFrame("\x95\x0d\0\0\0\0\0\0\0", 9);  // protocols 4 and 5: FRAME of 13 bytes
  if (rest.starts_with(kFrame)) rest.remove_prefix(kFrame.size());
  if (!rest.starts_with(kLegacyMagic)) return std::nullopt;
  return file.size() - rest.size() + kLegacyMagic.size();
}

void check_protocol(const PickleValue& value, const std::string& path) {
  if (value.kind != PickleKind::kInteger || value.number != kLegacyProtocol)
    refuse(path, fmt::format("protocol: expected {}, got {} {}", kLegacyProtocol, to_string(value.kind), value.number));
}

void check_system(const Pickle& system, const std::string& path) {
  const std::span<const PickleValue> items = system.items(system.root());
  if (system.root().kind != PickleKind::kDict) refuse(path, "system: expected a dict");
  bool is_little = false;
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].kind != PickleKind::kString) refuse(path, "system: expected strings as keys");
    if (items[i].text == "protocol_version") check_protocol(items[i + 1], path);
    if (items[i].text == "little_endian")
      is_little = items[i + 1].kind == PickleKind::kBool && items[i + 1].number == 1;
  }
  if (!is_little) refuse(path, "system: expected little_endian True");
}

TorchSave read_legacy(Bytes file, size_t magic_bytes, const std::string& path, std::span<const PickleGlobal> globals) {
  LegacyReader reader(file.subspan(magic_bytes), path, globals);
  check_protocol(reader.pickle("protocol").root(), path);
  check_system(reader.pickle("system"), path);
  TorchSave result;
  result.object = reader.pickle("object");
  result.keys = reader.pickle("keys");
  if (result.keys.root().kind != PickleKind::kList) refuse(path, "keys: expected a list");
  result.rest = reader.rest();
  return result;
}

}  // namespace

bool is_torch_save(Bytes file) {
  const std::string_view text = to_text(file);
  return text.starts_with(kZipSignature) || find_legacy_magic(text).has_value();
}

TorchSave read_torch_save(Bytes file, const std::string& path, std::span<const PickleGlobal> globals) {
  const std::string_view text = to_text(file);
  if (const auto magic_bytes = find_legacy_magic(text)) return read_legacy(file, *magic_bytes, path, globals);
  if (!text.starts_with(kZipSignature))
    refuse(path, "expected a torch.save file (a zip archive or the legacy format), got neither");
  TorchSave result;
  result.zip.emplace(file, path);
  check_statements(*result.zip, path);
  result.object = read_object(*result.zip, path, globals);
  return result;
}

}  // namespace deberta
