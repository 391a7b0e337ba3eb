// From the bytes of either container to the object and its storages.
//   zip:    ROOT/data.pkl, ROOT/data/KEY for each storage, ROOT/version, ROOT/byteorder (newer files)
//   legacy: pickles of a magic number, the protocol, facts on the writer's machine, the object and the list of keys;
//           then for each key a 64-bit count and the elements
#include "checkpoint/bin_storages.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/utf8.h"
#include "checkpoint/pickle_machine.h"
#include "checkpoint/zip_reader.h"

namespace deberta {
namespace {

using Storages = std::unordered_map<std::string_view, BinStorage>;

constexpr std::string_view kZipSignature = "PK\3\4";
constexpr std::string_view kLegacyMagic = "\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19.";  // LONG1, 10 bytes; STOP
constexpr int64_t kLegacyProtocol = 1001;
constexpr uint64_t kMaxFormatVersion = 10;
constexpr size_t kMaxKeyBytes = 255;
constexpr size_t kZipIdItems = 5;
constexpr size_t kLegacyIdItems = 6;

[[noreturn]] void refuse(const std::string& where, const std::string& message) {
  throw Error(ErrorCode::kBin, where, message);
}

std::string quote_key(std::string_view key) {
  return quote_json(replace_invalid_utf8(key.substr(0, 80)));
}

bool is_plain_key(std::string_view key) {
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
  };
  return !key.empty() && key.size() <= kMaxKeyBytes && std::all_of(key.begin(), key.end(), is_plain);
}

bool is_text(const PickleValue& value) {
  return value.kind == PickleKind::kString;
}

// A persistent id: ("storage", type, key, location, count), in legacy files with None after it, which stands for "not a
// part of another storage".
void add_storage(Storages& storages, std::span<const PickleValue> id, size_t expected_items, const std::string& where) {
  const bool has_form = id.size() == expected_items && is_text(id[0]) && id[0].text == "storage" &&
                        id[1].kind == PickleKind::kGlobal && is_text(id[2]) && is_text(id[3]) &&
                        id[4].kind == PickleKind::kInteger &&
                        (expected_items == kZipIdItems || id[5].kind == PickleKind::kNone);
  if (!has_form)
    refuse(where, fmt::format("persistent id: expected (\"storage\", type, key, location, count{})",
                              expected_items == kZipIdItems ? "" : ", None"));
  const PickleGlobal& type = pickle_globals()[static_cast<size_t>(id[1].number)];
  if (type.use != PickleGlobal::Use::kStorageType)
    refuse(where, fmt::format("persistent id: expected a storage type, got {}", type.name));
  const std::string_view key = id[2].text;
  if (!is_plain_key(key))
    refuse(where, fmt::format("storage {}: expected a key of letters and digits", quote_key(key)));
  if (id[4].number < 0) refuse(where, fmt::format("storage {}: expected a count >= 0, got {}", key, id[4].number));
  const BinStorage wanted{type.dtype, static_cast<uint64_t>(id[4].number), {}};
  const BinStorage& known = storages.emplace(key, wanted).first->second;
  if (known.dtype != wanted.dtype || known.count != wanted.count)
    refuse(where, fmt::format("storage {}: expected one type and count, got two", key));
}

Storages list_storages(const Pickle& object, size_t id_items, const std::string& where) {
  Storages storages;
  for (const PickleValue& value : object.storages()) add_storage(storages, object.items(value), id_items, where);
  return storages;
}

uint64_t size_bytes_of(std::string_view key, const BinStorage& storage, const std::string& where) {
  const auto size_bytes = checked_mul(storage.count, size_of(storage.dtype));
  if (!size_bytes) refuse(where, fmt::format("storage {}: {} elements do not fit into 64 bits", key, storage.count));
  return *size_bytes;
}

// ---- zip

const ZipEntry& find_entry(const ZipReader& zip, const std::string& name, const std::string& path) {
  const ZipEntry* entry = zip.find(name);
  if (entry == nullptr) refuse(path, fmt::format("expected {}{} in the archive", zip.root(), name));
  return *entry;
}

// Facts on the format that a file may state; what it states must be what is read here.
void check_statements(const ZipReader& zip, const std::string& path) {
  if (const ZipEntry* entry = zip.find("byteorder")) {
    const std::string_view order = to_text(zip.read(*entry));
    if (order != "little") refuse(path, fmt::format("byteorder: expected \"little\", got {}", quote_key(order)));
  }
  for (const std::string_view name : {"version", ".data/version"}) {
    const ZipEntry* entry = zip.find(name);
    if (entry == nullptr) continue;
    std::string_view text = to_text(zip.read(*entry));
    if (text.ends_with('\n')) text.remove_suffix(1);
    const auto version = parse_number<uint64_t>(text);
    if (!version || *version == 0 || *version > kMaxFormatVersion)
      refuse(path, fmt::format("{}: expected 1 to {}, got {}", name, kMaxFormatVersion, quote_key(text)));
  }
}

Pickle read_object(const ZipReader& zip, const std::string& path) {
  const ZipEntry& entry = find_entry(zip, "data.pkl", path);
  if (entry.bytes.size() > kMaxPickleBytes)
    refuse(path, fmt::format("data.pkl: expected at most {} bytes, got {}", kMaxPickleBytes, entry.bytes.size()));
  Pickle object = parse_pickle(zip.read(entry), path + ": data.pkl");
  if (object.size_bytes() != entry.bytes.size())
    refuse(path, fmt::format("data.pkl: expected to end with STOP, got {} bytes more",
                             entry.bytes.size() - object.size_bytes()));
  return object;
}

BinContents read_zip(Bytes file, const std::string& path) {
  const ZipReader zip(file, path);
  check_statements(zip, path);
  BinContents contents{read_object(zip, path), {}};
  contents.storages = list_storages(contents.object, kZipIdItems, path + ": data.pkl");
  for (auto& [key, storage] : contents.storages) {
    const ZipEntry& entry = find_entry(zip, fmt::format("data/{}", key), path);
    const uint64_t size_bytes = size_bytes_of(key, storage, path);
    if (entry.bytes.size() != size_bytes)
      refuse(path, fmt::format("storage {}: expected {} elements of {}, {} bytes, got {}", key, storage.count,
                               to_string(storage.dtype), size_bytes, entry.bytes.size()));
    storage.bytes = zip.read(entry);
  }
  return contents;
}

// ---- legacy

// A legacy file front to back.
class LegacyReader {
 public:
  LegacyReader(Bytes file, const std::string& path) : file_(file), path_(path) {}

  Pickle pickle(std::string_view what) {
    Pickle value = parse_pickle(file_.subspan(position_), fmt::format("{}: {}", path_, what));
    position_ += value.size_bytes();
    return value;
  }
  Bytes take(uint64_t count, std::string_view key) {
    Reader reader(file_.subspan(position_));
    const auto bytes = reader.take(count);
    if (!bytes) refuse(path_, fmt::format("storage {}: expected {} bytes, got {}: cut off", key, count, reader.left()));
    position_ += bytes->size();
    return *bytes;
  }
  void skip(size_t size_bytes) { position_ += size_bytes; }
  size_t left() const { return file_.size() - position_; }

 private:
  Bytes file_;
  const std::string& path_;
  size_t position_ = 0;
};

// Bytes of the first pickle, the magic number alone; nothing when the file does not begin with it. Compared raw: no
// integer of a state dict is that long.
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
    if (!is_text(items[i])) refuse(path, "system: expected text as keys");
    if (items[i].text == "protocol_version") check_protocol(items[i + 1], path);
    if (items[i].text == "little_endian")
      is_little = items[i + 1].kind == PickleKind::kBool && items[i + 1].number == 1;
  }
  if (!is_little) refuse(path, "system: expected little_endian True");
}

void read_legacy_storages(LegacyReader& reader, BinContents& contents, const std::string& path) {
  const Pickle keys = reader.pickle("keys");
  if (keys.root().kind != PickleKind::kList) refuse(path, "keys: expected a list");
  const std::span<const PickleValue> items = keys.items(keys.root());
  if (items.size() != contents.storages.size())
    refuse(path,
           fmt::format("keys: expected the {} storages of the object, got {}", contents.storages.size(), items.size()));
  for (const PickleValue& item : items) {
    const auto at = is_text(item) ? contents.storages.find(item.text) : contents.storages.end();
    if (at == contents.storages.end() || at->second.bytes.data() != nullptr)
      refuse(path, fmt::format("keys: expected each storage of the object once, got {}", quote_key(item.text)));
    BinStorage& storage = at->second;
    const uint64_t count = *Reader(reader.take(8, at->first)).take_little_endian(8);
    if (count != storage.count)
      refuse(path, fmt::format("storage {}: expected {} elements, got {}", at->first, storage.count, count));
    storage.bytes = reader.take(size_bytes_of(at->first, storage, path), at->first);
  }
}

BinContents read_legacy(Bytes file, size_t magic_bytes, const std::string& path) {
  LegacyReader reader(file, path);
  reader.skip(magic_bytes);
  check_protocol(reader.pickle("protocol").root(), path);
  check_system(reader.pickle("system"), path);
  BinContents contents{reader.pickle("object"), {}};
  contents.storages = list_storages(contents.object, kLegacyIdItems, path + ": object");
  read_legacy_storages(reader, contents, path);
  if (reader.left() > 0)
    refuse(path, fmt::format("expected the file to end with its last storage, got {} bytes more", reader.left()));
  return contents;
}

}  // namespace

const BinStorage& BinContents::storage_of(const PickleValue& value) const {
  return storages.at(object.items(value)[2].text);
}

BinContents read_bin(Bytes file, const std::string& path) {
  const std::string_view text = to_text(file);
  if (text.starts_with(kZipSignature)) return read_zip(file, path);
  if (const auto magic_bytes = find_legacy_magic(text)) return read_legacy(file, *magic_bytes, path);
  refuse(path, "expected a file of torch.save, a zip archive or the older form, got neither");
}

}  // namespace deberta
