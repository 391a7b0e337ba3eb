// The writers: zip records, pickle opcodes, the two containers.
#include <array>

#include "support/bad_bin.h"

namespace deberta::test {
namespace {

constexpr uint64_t kSaturated = 0xFFFFFFFF;

uint32_t crc32_of(std::string_view text) {
  static const std::array<uint32_t, 256> table = [] {
    std::array<uint32_t, 256> rows{};
    for (uint32_t i = 0; i < 256; ++i) {
      rows[i] = i;
      for (int bit = 0; bit < 8; ++bit) rows[i] = rows[i] >> 1 ^ ((rows[i] & 1) != 0 ? 0xEDB88320u : 0u);
    }
    return rows;
  }();
  uint32_t crc = ~0u;
  for (const char c : text) crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xFF] ^ crc >> 8;
  return ~crc;
}

std::string u16(uint64_t value) {
  return little_endian(value, 2);
}
std::string u32(uint64_t value) {
  return little_endian(value, 4);
}
std::string u64(uint64_t value) {
  return little_endian(value, 8);
}

// Flags, method, time, date, CRC, both sizes.
std::string common_fields(const ZipForm& form, uint64_t crc, uint64_t size_bytes) {
  return u16(form.has_descriptors ? 8 : 0) + u16(0) + u32(0) + u32(crc) + u32(size_bytes) + u32(size_bytes);
}

std::string local_record(const ZipPart& part, const ZipForm& form) {
  const uint64_t size_bytes = part.data.size();
  const bool wide = form.has_zip64_sizes && !form.has_descriptors;
  const std::string extra = wide ? u16(1) + u16(16) + u64(size_bytes) + u64(size_bytes) : u16(0x4246) + u16(3) + "ZZZ";
  const std::string fields = form.has_descriptors
                                 ? common_fields(form, 0, 0)
                                 : common_fields(form, crc32_of(part.data), wide ? kSaturated : size_bytes);
  std::string text =
      "PK\3\4" + u16(0) + fields + u16(part.name.size()) + u16(extra.size()) + part.name + extra + part.data;
  if (!form.has_descriptors) return text;
  const size_t width = form.has_wide_descriptors ? 8 : 4;
  text += "PK\7\x8" + u32(crc32_of(part.data));
  return text + little_endian(size_bytes, width) + little_endian(size_bytes, width);
}

std::string central_record(const ZipPart& part, const ZipForm& form, uint64_t offset) {
  const uint64_t size_bytes = part.data.size();
  const bool wide = form.has_zip64_sizes;
  const std::string extra = wide ? u16(1) + u16(24) + u64(size_bytes) + u64(size_bytes) + u64(offset) : "";
  return "PK\1\2" + u32(0) + common_fields(form, crc32_of(part.data), wide ? kSaturated : size_bytes) +
         u16(part.name.size()) + u16(extra.size()) + u16(0) + u16(0) + u16(0) + u32(0) +
         u32(wide ? kSaturated : offset) + part.name + extra;
}

size_t nth(const std::string& text, std::string_view signature, size_t index) {
  size_t at = text.find(signature);
  for (; index > 0 && at != text.npos; --index) at = text.find(signature, at + 1);
  return at;
}

std::string storage_type(DType dtype) {
  constexpr std::array<std::string_view, 10> kNames = {"Double", "Float", "Half", "BFloat16", "Long",
                                                       "Int",    "Short", "Char", "Byte",     "Bool"};
  return push_global("torch", std::string(kNames.at(static_cast<size_t>(dtype))) + "Storage");
}

TensorCall call_of(const TensorView& tensor, size_t index, BinForm form) {
  TensorCall call;
  call.storage = push_storage({.type = storage_type(tensor.dtype),
                               .key = push_text(std::to_string(index)),
                               .count = push_number(static_cast<int64_t>(tensor.count())),
                               .rest = form == BinForm::kLegacy ? "N" : ""});
  std::vector<std::string> shape;
  std::vector<std::string> strides(tensor.shape.size());
  int64_t stride = 1;
  for (size_t i = tensor.shape.size(); i-- > 0; stride *= tensor.shape[i]) strides[i] = push_number(stride);
  for (const int64_t dimension : tensor.shape) shape.push_back(push_number(dimension));
  call.shape = push_tuple(shape);
  call.strides = push_tuple(strides);
  return call;
}

}  // namespace

std::string little_endian(uint64_t value, size_t size_bytes) {
  return little_endian(value).substr(0, size_bytes);
}

std::string patched(std::string bytes, size_t at, std::string_view with) {
  return bytes.replace(at, with.size(), with);
}

std::string zip_bytes(const std::vector<ZipPart>& parts, const ZipForm& form) {
  std::string text;
  std::string directory;
  for (const ZipPart& part : parts) {
    directory += central_record(part, form, text.size());
    text += local_record(part, form);
  }
  const uint64_t begin = text.size();
  text += directory;
  const uint64_t end = text.size();
  const std::string counts = u64(parts.size()) + u64(parts.size()) + u64(directory.size()) + u64(begin);
  if (form.is_zip64) {
    text += "PK\6\6" + u64(44) + u16(0) + u16(0) + u32(0) + u32(0) + counts;
    text += "PK\6\7" + u32(0) + u64(end) + u32(1);
  }
  return text + "PK\5\6" + u32(0) + u16(parts.size()) + u16(parts.size()) + u32(directory.size()) + u32(begin) +
         u16(form.comment.size()) + form.comment;
}

size_t local_at(const std::string& zip, size_t index) {
  return nth(zip, "PK\3\4", index);
}
size_t central_at(const std::string& zip, size_t index) {
  return nth(zip, "PK\1\2", index);
}
size_t end_at(const std::string& zip) {
  return nth(zip, "PK\5\6", 0);
}
size_t zip64_end_at(const std::string& zip) {
  return nth(zip, "PK\6\6", 0);
}

std::string pickle(std::string_view body) {
  return "\x80\x02" + std::string(body) + ".";
}

std::string push_text(std::string_view text) {
  return "X" + u32(text.size()) + std::string(text);
}

std::string push_number(int64_t value) {
  if (value >= 0 && value < 256) return "K" + little_endian(static_cast<uint64_t>(value), 1);
  return "\x8a\x08" + u64(static_cast<uint64_t>(value));
}

std::string push_tuple(const std::vector<std::string>& items) {
  std::string text = "(";
  for (const std::string& item : items) text += item;
  return text + "t";
}

std::string push_global(std::string_view module, std::string_view name) {
  return "c" + std::string(module) + "\n" + std::string(name) + "\n";
}

std::string push_empty_ordered_dict() {
  return push_global("collections", "OrderedDict") + ")R";
}

std::string push_storage(const StorageId& id) {
  return push_tuple({push_text(id.tag), id.type, id.key, id.location, id.count, id.rest}) + "Q";
}

std::string push_tensor(const TensorCall& call) {
  return push_global("torch._utils", "_rebuild_tensor_v2") +
         push_tuple({call.storage, call.offset, call.shape, call.strides, call.requires_grad, call.hooks, call.rest}) +
         "R";
}

std::string push_parameter(const std::string& tensor) {
  return push_global("torch._utils", "_rebuild_parameter") + push_tuple({tensor, "\x88", push_empty_ordered_dict()}) +
         "R";
}

std::string push_state_dict(const std::vector<std::pair<std::string, std::string>>& items) {
  std::string text = push_empty_ordered_dict() + "(";
  for (const auto& [name, value] : items) text += push_text(name) + value;
  return text + "u";
}

std::string zip_bin(std::string_view data_pkl, const std::vector<KeyedBytes>& storages, const ZipForm& form) {
  std::vector<ZipPart> parts = {{"archive/data.pkl", std::string(data_pkl)}, {"archive/byteorder", "little"}};
  for (const KeyedBytes& storage : storages) parts.push_back({"archive/data/" + storage.key, storage.bytes});
  parts.push_back({"archive/version", "3\n"});
  return zip_bytes(parts, form);
}

std::string legacy_bin(std::string_view object, const std::vector<LegacyStorage>& storages, const LegacyForm& form) {
  std::string keys = "](";
  for (const LegacyStorage& storage : storages) keys += push_text(storage.key);
  const std::string system = pickle("}(" + push_text("protocol_version") + "M\xe9\x03" + push_text("little_endian") +
                                    "\x88" + push_text("type_sizes") + "}(" + push_text("short") + "K\x02uu");
  std::string text = form.magic + form.protocol + (form.system.empty() ? system : form.system) + std::string(object) +
                     (form.keys.empty() ? pickle(keys + "e") : form.keys);
  for (const LegacyStorage& storage : storages) text += u64(storage.count) + storage.bytes;
  return text;
}

std::string bin_of(const std::vector<TensorView>& tensors, BinForm form) {
  std::vector<std::pair<std::string, std::string>> items;
  std::vector<KeyedBytes> keyed;
  std::vector<LegacyStorage> counted;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const std::string bytes(to_text(tensors[i].bytes));
    items.emplace_back(tensors[i].name, push_tensor(call_of(tensors[i], i, form)));
    keyed.push_back({std::to_string(i), bytes});
    counted.push_back({std::to_string(i), tensors[i].count(), bytes});
  }
  const std::string object = pickle(push_state_dict(items));
  return form == BinForm::kZip ? zip_bin(object, keyed) : legacy_bin(object, counted);
}

std::string six_floats() {
  std::string bytes;
  for (const uint64_t bits : {0x3F800000u, 0x40000000u, 0x40400000u, 0x40800000u, 0x40A00000u, 0x40C00000u})
    bytes += u32(bits);
  return bytes;
}

std::string small_bin(BinForm form) {
  const std::string bytes = six_floats();
  return bin_of({{"a", DType::kF32, {2, 3}, to_bytes(bytes)}}, form);
}

}  // namespace deberta::test
