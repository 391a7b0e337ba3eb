// From the bytes of either container to the object and its storages.
//   zip:    data/KEY for each storage
//   legacy: after the list of keys, for each key a 64-bit count and the elements
#include "checkpoint/bin_storages.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/json.h"
#include "base/torch_save.h"
#include "base/utf8.h"
#include "deberta/error.h"

namespace deberta {
namespace {

using Storages = std::unordered_map<std::string_view, BinStorage>;

constexpr size_t kMaxKeyBytes = 255;
constexpr size_t kZipIdItems = 5;
constexpr size_t kLegacyIdItems = 6;

// What the pickle of a state dict of tensors may name.
using Use = PickleGlobal::Use;
constexpr std::array kGlobals = {
    PickleGlobal{"collections", "OrderedDict", Use::kOrderedDict},
    PickleGlobal{"collections", "defaultdict", Use::kDefaultDict},
    PickleGlobal{"torch", "Size", Use::kSize},
    PickleGlobal{"torch._utils", "_rebuild_tensor_v2", Use::kTensor},
    PickleGlobal{"torch._utils", "_rebuild_parameter", Use::kParameter},
    PickleGlobal{"torch._utils", "_rebuild_parameter_with_state", Use::kParameter},
    PickleGlobal{"torch._tensor", "_rebuild_from_type_v2", Use::kTyped},
    PickleGlobal{"torch", "Tensor", Use::kOther},
    PickleGlobal{"torch.nn.parameter", "Parameter", Use::kOther},
    PickleGlobal{"torch", "FloatStorage", Use::kStorageType, static_cast<uint8_t>(DType::kF32)},
    PickleGlobal{"torch", "HalfStorage", Use::kStorageType, static_cast<uint8_t>(DType::kF16)},
    PickleGlobal{"torch", "BFloat16Storage", Use::kStorageType, static_cast<uint8_t>(DType::kBf16)},
    PickleGlobal{"torch", "DoubleStorage", Use::kStorageType, static_cast<uint8_t>(DType::kF64)},
    PickleGlobal{"torch", "LongStorage", Use::kStorageType, static_cast<uint8_t>(DType::kI64)},
    PickleGlobal{"torch", "IntStorage", Use::kStorageType, static_cast<uint8_t>(DType::kI32)},
    PickleGlobal{"torch", "ShortStorage", Use::kStorageType, static_cast<uint8_t>(DType::kI16)},
    PickleGlobal{"torch", "CharStorage", Use::kStorageType, static_cast<uint8_t>(DType::kI8)},
    PickleGlobal{"torch", "ByteStorage", Use::kStorageType, static_cast<uint8_t>(DType::kU8)},
    PickleGlobal{"torch", "BoolStorage", Use::kStorageType, static_cast<uint8_t>(DType::kBool)},
    // For values beside the tensors: number types, locations, and Python's own types (under their Python 2 names too).
    PickleGlobal{"torch", "float64", Use::kOther},
    PickleGlobal{"torch", "float32", Use::kOther},
    PickleGlobal{"torch", "float16", Use::kOther},
    PickleGlobal{"torch", "bfloat16", Use::kOther},
    PickleGlobal{"torch", "int64", Use::kOther},
    PickleGlobal{"torch", "int32", Use::kOther},
    PickleGlobal{"torch", "int16", Use::kOther},
    PickleGlobal{"torch", "int8", Use::kOther},
    PickleGlobal{"torch", "uint8", Use::kOther},
    PickleGlobal{"torch", "bool", Use::kOther},
    PickleGlobal{"torch", "device", Use::kOther},
    PickleGlobal{"_codecs", "encode", Use::kOther},
    PickleGlobal{"builtins", "bytearray", Use::kOther},
    PickleGlobal{"builtins", "bytes", Use::kOther},
    PickleGlobal{"builtins", "complex", Use::kOther},
    PickleGlobal{"builtins", "dict", Use::kOther},
    PickleGlobal{"builtins", "float", Use::kOther},
    PickleGlobal{"builtins", "frozenset", Use::kOther},
    PickleGlobal{"builtins", "int", Use::kOther},
    PickleGlobal{"builtins", "list", Use::kOther},
    PickleGlobal{"builtins", "set", Use::kOther},
    PickleGlobal{"builtins", "str", Use::kOther},
    PickleGlobal{"__builtin__", "bytearray", Use::kOther},
    PickleGlobal{"__builtin__", "bytes", Use::kOther},
    PickleGlobal{"__builtin__", "complex", Use::kOther},
    PickleGlobal{"__builtin__", "dict", Use::kOther},
    PickleGlobal{"__builtin__", "float", Use::kOther},
    PickleGlobal{"__builtin__", "frozenset", Use::kOther},
    PickleGlobal{"__builtin__", "int", Use::kOther},
    PickleGlobal{"__builtin__", "list", Use::kOther},
    PickleGlobal{"__builtin__", "set", Use::kOther},
    PickleGlobal{"__builtin__", "unicode", Use::kOther},
};

[[noreturn]] void refuse_bin(const std::string& where, const std::string& message) {
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
void add_storage(Storages& storages, const Pickle& object, const PickleValue& value, size_t expected_items,
                 const std::string& where) {
  const std::span<const PickleValue> id = object.items(value);
  const bool has_form = id.size() == expected_items && is_text(id[0]) && id[0].text == "storage" &&
                        id[1].kind == PickleKind::kGlobal && is_text(id[2]) && is_text(id[3]) &&
                        id[4].kind == PickleKind::kInteger &&
                        (expected_items == kZipIdItems || id[5].kind == PickleKind::kNone);
  if (!has_form)
    refuse_bin(where, fmt::format("persistent id: expected (\"storage\", type, key, location, count{})",
                                  expected_items == kZipIdItems ? "" : ", None"));
  const PickleGlobal& type = object.global_of(id[1]);
  if (type.use != PickleGlobal::Use::kStorageType)
    refuse_bin(where, fmt::format("persistent id: expected a storage type, got {}", type.name));
  const std::string_view key = id[2].text;
  if (!is_plain_key(key))
    refuse_bin(where, fmt::format("storage {}: expected a key of letters and digits", quote_key(key)));
  if (id[4].number < 0) refuse_bin(where, fmt::format("storage {}: expected a count >= 0, got {}", key, id[4].number));
  const BinStorage wanted{static_cast<DType>(type.element), static_cast<uint64_t>(id[4].number), {}};
  const BinStorage& known = storages.emplace(key, wanted).first->second;
  if (known.dtype != wanted.dtype || known.count != wanted.count)
    refuse_bin(where, fmt::format("storage {}: expected one type and count, got two", key));
}

Storages list_storages(const Pickle& object, size_t id_items, const std::string& where) {
  Storages storages;
  for (const PickleValue& value : object.storages()) add_storage(storages, object, value, id_items, where);
  return storages;
}

uint64_t size_bytes_of(std::string_view key, const BinStorage& storage, const std::string& where) {
  const auto size_bytes = checked_mul(storage.count, size_of(storage.dtype));
  if (!size_bytes)
    refuse_bin(where, fmt::format("storage {}: {} elements do not fit into 64 bits", key, storage.count));
  return *size_bytes;
}

void read_zip_storages(const ZipReader& zip, Storages& storages, const std::string& path, bool checks_crc) {
  for (auto& [key, storage] : storages) {
    const ZipEntry* entry = zip.find(fmt::format("data/{}", key));
    if (entry == nullptr) refuse_bin(path, fmt::format("expected {}data/{} in the archive", zip.root(), key));
    const uint64_t size_bytes = size_bytes_of(key, storage, path);
    if (entry->bytes.size() != size_bytes)
      refuse_bin(path, fmt::format("storage {}: expected {} elements of {}, {} bytes, got {}", key, storage.count,
                                   to_string(storage.dtype), size_bytes, entry->bytes.size()));
    storage.bytes = checks_crc ? zip.read(*entry) : entry->bytes;
  }
}

void read_legacy_storages(const TorchSave& save, Storages& storages, const std::string& path) {
  Reader reader(save.rest);
  const auto take = [&](uint64_t count, std::string_view key) {
    const auto bytes = reader.take(count);
    if (!bytes)
      refuse_bin(path, fmt::format("storage {}: expected {} bytes, got {}: truncated", key, count, reader.left()));
    return *bytes;
  };
  const std::span<const PickleValue> keys = save.keys.items(save.keys.root());
  if (keys.size() != storages.size())
    refuse_bin(path, fmt::format("keys: expected the {} storages of the object, got {}", storages.size(), keys.size()));
  for (const PickleValue& key : keys) {
    const auto at = is_text(key) ? storages.find(key.text) : storages.end();
    if (at == storages.end() || at->second.bytes.data() != nullptr)
      refuse_bin(path, fmt::format("keys: expected each storage of the object once, got {}", quote_key(key.text)));
    BinStorage& storage = at->second;
    const uint64_t count = *Reader(take(8, at->first)).take_little_endian(8);
    if (count != storage.count)
      refuse_bin(path, fmt::format("storage {}: expected {} elements, got {}", at->first, storage.count, count));
    storage.bytes = take(size_bytes_of(at->first, storage, path), at->first);
  }
  if (reader.left() > 0)
    refuse_bin(path, fmt::format("expected the file to end with its last storage, got {} more bytes", reader.left()));
}

}  // namespace

const BinStorage& BinContents::storage_of(const PickleValue& value) const {
  return storages.at(object.items(value)[2].text);
}

std::span<const PickleGlobal> tensor_globals() {
  return kGlobals;
}

BinContents read_bin(Bytes file, const std::string& path, bool checks_crc) {
  TorchSave save = read_torch_save(file, path, tensor_globals());
  const bool is_zip = save.zip.has_value();
  const std::string where = path + (is_zip ? ": data.pkl" : ": object");
  Storages storages = list_storages(save.object, is_zip ? kZipIdItems : kLegacyIdItems, where);
  if (is_zip) {
    read_zip_storages(*save.zip, storages, path, checks_crc);
  } else {
    read_legacy_storages(save, storages, path);
  }
  return {std::move(save.object), std::move(storages)};
}

}  // namespace deberta
