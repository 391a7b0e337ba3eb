// From the tagged values of the pickle to tensors: every argument of every tensor is checked against its storage.
#include "checkpoint/bin_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

#include "base/json.h"
#include "base/utf8.h"
#include "checkpoint/bin_storages.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr size_t kMaxTensors = 100000;
constexpr size_t kMaxNameBytes = 1024;
constexpr size_t kMaxRank = 8;
constexpr int64_t kMaxDimension = (int64_t{1} << 53) - 1;
// What may be copied in all, as a multiple of the file: many names for one transposed tensor must not fill the memory.
constexpr uint64_t kMaxCopies = 4;

// A tensor of the state dict while it is checked: messages name it.
class TensorReader {
 public:
  TensorReader(const BinContents& contents, const std::string& path, std::string_view name)
      : contents_(contents), path_(path), name_(name) {}

  [[noreturn]] void refuse(const std::string& message) const {
    const std::string quoted = quote_json(replace_invalid_utf8(name_.substr(0, 80)));
    throw Error(ErrorCode::kBin, path_, fmt::format("tensor {}: {}", quoted, message));
  }

  void check_name() const {
    const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
    const bool is_good = !name_.empty() && name_.size() <= kMaxNameBytes && is_valid_utf8(name_) &&
                         std::none_of(name_.begin(), name_.end(), is_control);
    if (!is_good) {
      refuse(fmt::format("expected a name of 1 to {} bytes of UTF-8 without control characters", kMaxNameBytes));
    }
  }

  // The arguments of _rebuild_tensor_v2: storage, offset, shape, strides, requires_grad, hooks. A parameter wraps them.
  std::span<const PickleValue> arguments(PickleValue value) const {
    if (value.kind == PickleKind::kParameter) {
      const auto items = contents_.object.items(value);
      const bool has_state = items.size() == 4;  // attributes of its own, which nothing reads
      const bool has_form = (items.size() == 3 || has_state) && items[0].kind == PickleKind::kTensor &&
                            items[1].kind == PickleKind::kBool && has_no_hooks(items[2]);
      if (!has_form) refuse("expected a parameter of a tensor, a bool and no hooks");
      value = items[0];
    }
    if (value.kind != PickleKind::kTensor) refuse(fmt::format("expected a tensor, got a {}", to_string(value.kind)));
    const auto items = contents_.object.items(value);
    const bool has_form = items.size() == 6 && items[0].kind == PickleKind::kStorage &&
                          items[1].kind == PickleKind::kInteger && items[2].kind == PickleKind::kTuple &&
                          items[3].kind == PickleKind::kTuple && items[4].kind == PickleKind::kBool &&
                          has_no_hooks(items[5]);
    if (!has_form) refuse("expected a storage, an offset, a shape, strides, a bool and no hooks");
    return items;
  }

  Shape numbers(const PickleValue& tuple, std::string_view what) const {
    Shape numbers;
    const auto items = contents_.object.items(tuple);
    if (items.size() > kMaxRank) refuse(fmt::format("{}: expected at most {}, got {}", what, kMaxRank, items.size()));
    for (const PickleValue& item : items) {
      if (item.kind != PickleKind::kInteger || item.number < 0 || item.number > kMaxDimension)
        refuse(fmt::format("{}: expected integers from 0 to 2^53 - 1, got {} {}", what, to_string(item.kind),
                           item.number));
      numbers.push_back(item.number);
    }
    return numbers;
  }

 private:
  bool has_no_hooks(const PickleValue& value) const {
    return value.kind == PickleKind::kOrderedDict && contents_.object.items(value).empty();
  }

  const BinContents& contents_;
  const std::string& path_;
  std::string_view name_;
};

// Where the elements of a tensor lie in its storage.
struct Placement {
  uint64_t offset = 0;  // all in elements
  Shape shape;
  Shape strides;
  uint64_t count = 0;
};

// The product of the shape; at most what the storage holds, so that a repeated element (stride 0) cannot grow.
uint64_t count_elements(const Placement& placement, const BinStorage& storage, const TensorReader& reader) {
  const auto count = size_bytes_of(DType::kU8, placement.shape);
  if (!count || *count > storage.count)
    reader.refuse(fmt::format("shape {}: expected at most the {} elements of the storage", to_string(placement.shape),
                              storage.count));
  return *count;
}

void check_extent(const Placement& placement, const BinStorage& storage, const TensorReader& reader) {
  std::optional<uint64_t> last = placement.offset;
  for (size_t i = 0; i < placement.shape.size() && last && placement.count > 0; ++i) {
    const auto step =
        checked_mul(static_cast<uint64_t>(placement.shape[i] - 1), static_cast<uint64_t>(placement.strides[i]));
    last = step ? checked_add(*last, *step) : std::nullopt;
  }
  const bool is_inside = last && (placement.count > 0 ? *last < storage.count : *last <= storage.count);
  if (!is_inside)
    reader.refuse(fmt::format("offset {}, shape {}, strides {}: expected to stay within the {} elements of the storage",
                              placement.offset, to_string(placement.shape), to_string(placement.strides),
                              storage.count));
}

Placement read_placement(const TensorReader& reader, std::span<const PickleValue> arguments,
                         const BinStorage& storage) {
  Placement placement;
  if (arguments[1].number < 0) reader.refuse(fmt::format("offset: expected at least 0, got {}", arguments[1].number));
  placement.offset = static_cast<uint64_t>(arguments[1].number);
  placement.shape = reader.numbers(arguments[2], "shape");
  placement.strides = reader.numbers(arguments[3], "strides");
  if (placement.shape.size() != placement.strides.size())
    reader.refuse(fmt::format("expected a stride for each of {} dimensions, got {}", placement.shape.size(),
                              placement.strides.size()));
  placement.count = count_elements(placement, storage, reader);
  check_extent(placement, storage, reader);
  return placement;
}

bool is_contiguous(const Placement& placement) {
  if (placement.count == 0) return true;
  int64_t expected = 1;
  for (size_t i = placement.shape.size(); i-- > 0;) {
    if (placement.shape[i] != 1 && placement.strides[i] != expected) return false;
    expected *= placement.shape[i];
  }
  return true;
}

// Element by element in the order of the indices, the last one fastest.
std::vector<std::byte> copy_strided(Bytes storage, size_t element_bytes, const Placement& placement) {
  std::vector<std::byte> out(static_cast<size_t>(placement.count) * element_bytes);
  std::vector<int64_t> index(placement.shape.size(), 0);
  auto at = static_cast<int64_t>(placement.offset);
  for (size_t i = 0; i < placement.count; ++i) {
    std::memcpy(out.data() + i * element_bytes, storage.data() + static_cast<size_t>(at) * element_bytes,
                element_bytes);
    for (size_t d = index.size(); d-- > 0;) {
      at += placement.strides[d];
      if (++index[d] < placement.shape[d]) break;
      at -= placement.strides[d] * placement.shape[d];
      index[d] = 0;
    }
  }
  return out;
}

std::span<const PickleValue> state_dict_of(const BinContents& contents, const std::string& path) {
  const PickleValue& root = contents.object.root();
  if (root.kind != PickleKind::kDict && root.kind != PickleKind::kOrderedDict)
    throw Error(ErrorCode::kBin, path, fmt::format("expected a state dict, got a {}", to_string(root.kind)));
  const auto items = contents.object.items(root);
  if (items.size() / 2 > kMaxTensors)
    throw Error(ErrorCode::kBin, path,
                fmt::format("expected at most {} tensors, got {}", kMaxTensors, items.size() / 2));
  return items;
}

}  // namespace

namespace {

// Values that cannot be mistaken for tensors: numbers, texts, containers. The library skips these too.
bool is_passed_over(PickleKind kind) {
  return kind != PickleKind::kTensor && kind != PickleKind::kParameter && kind != PickleKind::kStorage;
}

bool holds_tensors(const Pickle& object, const PickleValue& value) {
  if (value.kind != PickleKind::kDict && value.kind != PickleKind::kOrderedDict) return false;
  const std::span<const PickleValue> items = object.items(value);
  for (size_t i = 1; i < items.size(); i += 2) {
    if (!is_passed_over(items[i].kind)) return true;
  }
  return false;
}

std::string describe_entry(const PickleValue& key, const PickleValue& value) {
  const std::string_view name = key.kind == PickleKind::kString ? key.text.substr(0, 80) : to_string(key.kind);
  return fmt::format("{} ({})", quote_json(replace_invalid_utf8(name)), to_string(value.kind));
}

// The tensors of a state dict, one after the other.
class StateDictReader {
 public:
  StateDictReader(const BinContents& contents, const std::string& path, size_t file_bytes)
      : contents_(contents), path_(path), file_bytes_(file_bytes) {}

  BinTensors read() {
    const std::span<const PickleValue> items = state_dict_of(contents_, path_);
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      if (is_passed_over(items[i + 1].kind)) {
        tensors_.passed_over.push_back(describe_entry(items[i], items[i + 1]));
      } else {
        add(items[i], items[i + 1]);
      }
    }
    if (tensors_.views.empty()) refuse_nested(items);
    return std::move(tensors_);
  }

 private:
  void add(const PickleValue& key, const PickleValue& value) {
    if (key.kind != PickleKind::kString)
      throw Error(ErrorCode::kBin, path_, fmt::format("expected names as keys, got a {}", to_string(key.kind)));
    const TensorReader reader(contents_, path_, key.text);
    reader.check_name();
    if (!names_.insert(key.text).second) reader.refuse("expected each name once, got it twice");
    const auto arguments = reader.arguments(value);
    const BinStorage& storage = contents_.storage_of(arguments[0]);
    const Placement placement = read_placement(reader, arguments, storage);
    tensors_.views.push_back(
        {std::string(key.text), storage.dtype, placement.shape, bytes_of(reader, storage, placement)});
  }

  Bytes bytes_of(const TensorReader& reader, const BinStorage& storage, const Placement& placement) {
    const size_t element_bytes = size_of(storage.dtype);
    const size_t size_bytes = static_cast<size_t>(placement.count) * element_bytes;
    if (is_contiguous(placement))
      return storage.bytes.subspan(static_cast<size_t>(placement.offset) * element_bytes, size_bytes);
    copied_bytes_ += size_bytes;
    if (copied_bytes_ / kMaxCopies > file_bytes_) reader.refuse("expected fewer tensors that need a copy");
    return tensors_.copies.emplace_back(copy_strided(storage.bytes, element_bytes, placement));
  }

  // A training program's own state: the weights are a part of it, under a name that only that program knows.
  void refuse_nested(std::span<const PickleValue> items) const {
    for (size_t i = 0; i + 1 < items.size(); i += 2) {
      if (holds_tensors(contents_.object, items[i + 1]))
        throw Error(
            ErrorCode::kBin, path_,
            fmt::format("expected tensors by name, got them inside {}: the state of a training run, not a model; "
                        "save the model with save_pretrained",
                        describe_entry(items[i], items[i + 1])));
    }
    if (!items.empty())
      throw Error(
          ErrorCode::kBin, path_,
          fmt::format("expected tensors by name, got none; the first entry is {}", describe_entry(items[0], items[1])));
  }

  const BinContents& contents_;
  const std::string& path_;
  size_t file_bytes_;
  BinTensors tensors_;
  std::unordered_set<std::string_view> names_;
  uint64_t copied_bytes_ = 0;
};

}  // namespace

BinTensors parse_bin(Bytes file, const std::string& path, bool checks_crc) {
  const BinContents contents = read_bin(file, path, checks_crc);
  return StateDictReader(contents, path, file.size()).read();
}

}  // namespace deberta
