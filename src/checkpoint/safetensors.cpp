// Reading: length, header as strict JSON, then the rules of the format one by one; the bytes stay in the mapped file.
// Writing: the same rules on what is given, then the header and one tensor after the other.
#include "checkpoint/safetensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/json.h"
#include "base/output_file.h"
#include "base/utf8.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kMaxHeaderBytes = 100000000;
constexpr size_t kMaxTensors = 100000;
constexpr size_t kMaxNameBytes = 1024;
constexpr size_t kMaxMetadataBytes = size_t{1} << 20;
constexpr size_t kMaxRank = 8;
constexpr int64_t kMaxDimension = (int64_t{1} << 53) - 1;
constexpr uint64_t kMaxTensorBytes = (uint64_t{1} << 48) - 1;
constexpr std::string_view kMetadataKey = "__metadata__";
// An entry has at most 5 + kMaxRank values besides itself; the rest is for the metadata.
constexpr JsonLimits kHeaderLimits{
    .max_bytes = kMaxHeaderBytes, .max_depth = 4, .max_nodes = kMaxTensors * (6 + kMaxRank) + 600000};

[[noreturn]] void refuse_safetensors(const std::string& path, std::string message) {
  throw Error(ErrorCode::kSafetensors, path, std::move(message));
}

// For names in messages, which may be long and hold anything.
std::string quote_name(std::string_view name) {
  return name.size() <= 80 ? quote_json(name) : quote_json(replace_invalid_utf8(name.substr(0, 80))) + "...";
}

[[noreturn]] void refuse_tensor(const std::string& path, std::string_view name, const std::string& message) {
  refuse_safetensors(path, fmt::format("tensor {}: {}", quote_name(name), message));
}

// The JSON text of the header, as long as the file's first 8 bytes say.
std::string_view header_text(const std::string& path, Bytes file) {
  Reader reader(file);
  const auto length = reader.take_little_endian(kLengthBytes);
  if (!length) refuse_safetensors(path, fmt::format("expected at least {} bytes, got {}", kLengthBytes, file.size()));
  if (*length < 2 || *length > kMaxHeaderBytes) {
    refuse_safetensors(path, fmt::format("header length: expected 2 to {} bytes, got {}", kMaxHeaderBytes, *length));
  }
  const auto header = reader.take(*length);
  if (!header)
    refuse_safetensors(
        path, fmt::format("header length: expected at most the {} bytes left, got {}", reader.left(), *length));
  const std::string_view text = to_text(*header);
  if (text.front() != '{') refuse_safetensors(path, "header: expected an object at the first byte");
  if (text[text.find_last_not_of(' ')] != '}')
    refuse_safetensors(path, "header: expected only spaces after the object");
  return text;
}

Json parse_header(const std::string& path, std::string_view text) {
  try {
    return parse_json(text, "header", kHeaderLimits);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kJson && error.code() != ErrorCode::kTooLarge) throw;
    refuse_safetensors(path, error.what());
  }
}

void check_name(const std::string& path, std::string_view name) {
  if (name.empty() || name.size() > kMaxNameBytes) {
    refuse_tensor(path, name, fmt::format("expected a name of 1 to {} bytes, got {}", kMaxNameBytes, name.size()));
  }
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (std::any_of(name.begin(), name.end(), is_control))
    refuse_tensor(path, name, "expected a name without control characters");
}

void check_count(const std::string& path, size_t tensors) {
  if (tensors > kMaxTensors)
    refuse_safetensors(path, fmt::format("expected at most {} tensors, got {}", kMaxTensors, tensors));
}

void check_metadata_size(const std::string& path, const Metadata& metadata) {
  size_t size_bytes = 0;
  for (const auto& [key, value] : metadata) size_bytes += key.size() + value.size();
  if (size_bytes > kMaxMetadataBytes) {
    refuse_safetensors(
        path, fmt::format("{}: expected at most {} bytes, got {}", kMetadataKey, kMaxMetadataBytes, size_bytes));
  }
}

Metadata read_metadata(const std::string& path, const Json& value) {
  if (!value.is_object())
    refuse_safetensors(path, fmt::format("{}: expected an object, got {}", kMetadataKey, value.describe()));
  Metadata metadata;
  for (const auto& [key, item] : value.as_object()) {
    if (!item.is_string())
      refuse_safetensors(
          path, fmt::format("{}: {}: expected a string, got {}", kMetadataKey, quote_name(key), item.describe()));
    metadata.emplace_back(key, item.as_string());
  }
  check_metadata_size(path, metadata);
  return metadata;
}

DType read_dtype(const std::string& path, std::string_view name, const Json& value) {
  const auto dtype = value.is_string() ? parse_dtype(value.as_string()) : std::nullopt;
  if (!dtype)
    refuse_tensor(path, name, fmt::format("dtype: expected one of {}, got {}", list_dtypes(), value.describe()));
  return *dtype;
}

Shape read_shape(const std::string& path, std::string_view name, const Json& value) {
  if (!value.is_array() || value.as_array().size() > kMaxRank) {
    refuse_tensor(path, name,
                  fmt::format("shape: expected an array of at most {} dimensions, got {}", kMaxRank, value.describe()));
  }
  Shape shape;
  for (const Json& item : value.as_array()) {
    if (!item.is_integer() || item.as_integer() < 0 || item.as_integer() > kMaxDimension) {
      refuse_tensor(path, name, fmt::format("shape: expected integers from 0 to 2^53 - 1, got {}", item.describe()));
    }
    shape.push_back(item.as_integer());
  }
  return shape;
}

struct Range {
  uint64_t begin = 0;
  uint64_t end = 0;
};

Range read_range(const std::string& path, std::string_view name, const Json& value) {
  const auto is_offset = [](const Json& item) { return item.is_integer() && item.as_integer() >= 0; };
  const bool is_pair = value.is_array() && value.as_array().size() == 2 && is_offset(value.as_array()[0]) &&
                       is_offset(value.as_array()[1]);
  if (!is_pair)
    refuse_tensor(path, name, fmt::format("data_offsets: expected two integers >= 0, got {}", value.describe()));
  const Range range{static_cast<uint64_t>(value.as_array()[0].as_integer()),
                    static_cast<uint64_t>(value.as_array()[1].as_integer())};
  if (range.begin > range.end) {
    refuse_tensor(path, name,
                  fmt::format("data_offsets: expected begin <= end, got {} and {}", range.begin, range.end));
  }
  return range;
}

// A tensor of the header whose place in the file is not yet checked.
struct Entry {
  TensorView tensor;
  Range range;
};

Entry read_entry(const std::string& path, const std::string& name, const Json& value) {
  check_name(path, name);
  const Json* dtype = value.find("dtype");
  const Json* shape = value.find("shape");
  const Json* offsets = value.find("data_offsets");
  if (dtype == nullptr || shape == nullptr || offsets == nullptr || value.as_object().size() != 3) {
    refuse_tensor(path, name, "expected exactly the keys dtype, shape and data_offsets");
  }
  Entry entry;
  entry.tensor.name = name;
  entry.tensor.dtype = read_dtype(path, name, *dtype);
  entry.tensor.shape = read_shape(path, name, *shape);
  entry.range = read_range(path, name, *offsets);
  const auto expected = size_bytes_of(entry.tensor.dtype, entry.tensor.shape);
  if (!expected || *expected > kMaxTensorBytes) {
    refuse_tensor(path, name,
                  fmt::format("shape: expected less than 2^48 bytes, got {}", to_string(entry.tensor.shape)));
  }
  if (entry.range.end - entry.range.begin != *expected) {
    refuse_tensor(
        path, name,
        fmt::format("data_offsets: expected the {} bytes of {} {}, got {}", *expected, to_string(entry.tensor.dtype),
                    to_string(entry.tensor.shape), entry.range.end - entry.range.begin));
  }
  return entry;
}

// Sorted by place, the ranges must cover `data` from end to end without a hole and without an overlap.
std::vector<TensorView> place_tensors(const std::string& path, std::vector<Entry> entries, Bytes data) {
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.range.begin, a.range.end, a.tensor.name) < std::tie(b.range.begin, b.range.end, b.tensor.name);
  });
  std::vector<TensorView> tensors;
  tensors.reserve(entries.size());
  uint64_t expected_begin = 0;
  for (Entry& entry : entries) {
    const auto [begin, end] = entry.range;
    if (begin != expected_begin) {
      refuse_tensor(path, entry.tensor.name,
                    fmt::format("data_offsets: expected to start at {}, where the previous tensor ends, got {} ({})",
                                expected_begin, begin, begin < expected_begin ? "they overlap" : "a gap"));
    }
    if (end > data.size()) {
      refuse_tensor(path, entry.tensor.name,
                    fmt::format("data_offsets: expected to end within the {} bytes of data, got {}", data.size(), end));
    }
    entry.tensor.bytes = data.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
    tensors.push_back(std::move(entry.tensor));
    expected_begin = end;
  }
  if (expected_begin != data.size()) {
    refuse_safetensors(path, fmt::format("expected the file to end with its last tensor, got {} more bytes",
                                         data.size() - expected_begin));
  }
  return tensors;
}

std::vector<size_t> sort_by_name(const std::vector<TensorView>& tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return tensors[a].name < tensors[b].name; });
  return order;
}

void check_tensors_to_write(const std::string& path, const std::vector<TensorToWrite>& tensors) {
  check_count(path, tensors.size());
  std::unordered_set<std::string_view> names;
  for (const TensorToWrite& tensor : tensors) {
    check_name(path, tensor.name);
    if (!is_valid_utf8(tensor.name)) refuse_tensor(path, tensor.name, "expected a name in UTF-8");
    if (tensor.name == kMetadataKey)
      refuse_tensor(path, tensor.name, "expected another name; this one is reserved by the format");
    if (!names.insert(tensor.name).second) refuse_tensor(path, tensor.name, "expected each name once, got it twice");
    const auto expected = size_bytes_of(tensor.dtype, tensor.shape);
    if (tensor.shape.size() > kMaxRank || !expected || *expected > kMaxTensorBytes) {
      refuse_tensor(path, tensor.name,
                    fmt::format("expected at most {} dimensions and less than 2^48 bytes, got {}", kMaxRank,
                                to_string(tensor.shape)));
    }
  }
}

void check_metadata_to_write(const std::string& path, const Metadata& metadata) {
  check_metadata_size(path, metadata);
  std::unordered_set<std::string_view> keys;
  for (const auto& [key, value] : metadata) {
    if (!is_valid_utf8(key) || !is_valid_utf8(value))
      refuse_safetensors(path, fmt::format("{}: expected UTF-8", kMetadataKey));
    if (!keys.insert(key).second)
      refuse_safetensors(path, fmt::format("{}: expected each key once, got {} twice", kMetadataKey, quote_name(key)));
  }
}

// Header text padded with spaces so that the data begins at a multiple of 8.
std::string make_header(const std::vector<TensorToWrite>& tensors, const Metadata& metadata) {
  std::string text = "{";
  const auto comma = [&] { return text.size() == 1 ? "" : ","; };
  if (!metadata.empty()) {
    std::string members;
    for (const auto& [key, value] : metadata) {
      members += fmt::format("{}{}:{}", members.empty() ? "" : ",", quote_json(key), quote_json(value));
    }
    text += fmt::format("\"{}\":{{{}}}", kMetadataKey, members);
  }
  uint64_t begin = 0;
  for (const TensorToWrite& tensor : tensors) {
    const uint64_t end = begin + *size_bytes_of(tensor.dtype, tensor.shape);
    text += fmt::format("{}{}:{{\"dtype\":\"{}\",\"shape\":{},\"data_offsets\":[{},{}]}}", comma(),
                        quote_json(tensor.name), to_string(tensor.dtype), to_string(tensor.shape), begin, end);
    begin = end;
  }
  text += '}';
  text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
  return text;
}

// Passes on what a tensor writes and counts it: fewer or more bytes would move every tensor after it.
class CountingWriter final : public FileWriter {
 public:
  explicit CountingWriter(FileWriter& file) : file_(file) {}
  void write(Bytes bytes) override {
    count_ += bytes.size();
    file_.write(bytes);
  }
  uint64_t count() const { return count_; }

 private:
  FileWriter& file_;
  uint64_t count_ = 0;
};

}  // namespace

SafetensorsFile::SafetensorsFile(const std::string& path, LoadMode mode) : file_(path, mode) {
  const Bytes bytes = file_.bytes();
  const std::string_view text = header_text(path, bytes);
  const Json header = parse_header(path, text);
  std::vector<Entry> entries;
  for (const auto& [name, value] : header.as_object()) {
    if (name == kMetadataKey) {
      metadata_ = read_metadata(path, value);
    } else {
      entries.push_back(read_entry(path, name, value));
    }
  }
  check_count(path, entries.size());
  tensors_ = place_tensors(path, std::move(entries), bytes.subspan(kLengthBytes + text.size()));
  by_name_ = sort_by_name(tensors_);
}

const TensorView* SafetensorsFile::find(std::string_view name) const {
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), name, [&](size_t index, std::string_view wanted) {
    return tensors_[index].name < wanted;
  });
  return at != by_name_.end() && tensors_[*at].name == name ? &tensors_[*at] : nullptr;
}

void write_safetensors(FileWriter& file, const std::string& path, const std::vector<TensorToWrite>& tensors,
                       const Metadata& metadata) {
  check_tensors_to_write(path, tensors);
  check_metadata_to_write(path, metadata);
  const std::string header = make_header(tensors, metadata);
  if (header.size() > kMaxHeaderBytes) {
    refuse_safetensors(path, fmt::format("header: expected at most {} bytes, got {}", kMaxHeaderBytes, header.size()));
  }
  std::string length;
  for (size_t i = 0; i < kLengthBytes; ++i) length += static_cast<char>(header.size() >> 8 * i & 0xFF);
  file.write(to_bytes(length));
  file.write(to_bytes(header));
  for (const TensorToWrite& tensor : tensors) {
    CountingWriter counted(file);
    tensor.write(counted);
    if (counted.count() != *size_bytes_of(tensor.dtype, tensor.shape)) {
      refuse_tensor(path, tensor.name,
                    fmt::format("expected the bytes of {} {}, got {} bytes", to_string(tensor.dtype),
                                to_string(tensor.shape), counted.count()));
    }
  }
}

std::vector<TensorToWrite> to_write(const std::vector<TensorView>& tensors) {
  std::vector<TensorToWrite> result;
  result.reserve(tensors.size());
  for (const TensorView& tensor : tensors) {
    result.push_back(
        {tensor.name, tensor.dtype, tensor.shape, [bytes = tensor.bytes](FileWriter& file) { file.write(bytes); }});
  }
  return result;
}

void write_safetensors(const std::string& path, const std::vector<TensorView>& tensors, const Metadata& metadata) {
  write_output_file(path, [&](FileWriter& file) { write_safetensors(file, path, to_write(tensors), metadata); });
}

}  // namespace deberta
