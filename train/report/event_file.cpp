// Encodes the few protobuf fields that TensorBoard reads, and frames them with masked CRC-32C.
#include "train/report/event_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <bit>
#include <cerrno>

#include "base/descriptor.h"
#include "base/folder.h"
#include "deberta/error.h"

namespace deberta::train {
namespace {

constexpr std::string_view kPrefix = "events.out.tfevents.";

// The remainder of each byte, with the polynomial's bits reversed.
constexpr std::array<uint32_t, 256> make_table() {
  constexpr uint32_t kCastagnoli = 0x82f63b78;
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ ((rest & 1) != 0 ? kCastagnoli : 0);
    table[byte] = rest;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kTable = make_table();

// ---- protocol buffers: a field is its number and its wire type, then the value

enum class Wire : uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

std::string little_endian(uint64_t value, size_t size_bytes) {
  std::string bytes;
  for (size_t i = 0; i < size_bytes; ++i) bytes += static_cast<char>(value >> 8 * i & 0xff);
  return bytes;
}
std::string varint(uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>((value & 0x7f) | 0x80);
  return bytes + static_cast<char>(value);
}
std::string key(uint64_t field, Wire wire) {
  return varint(field << 3 | static_cast<uint64_t>(wire));
}
std::string bytes_field(uint64_t field, std::string_view bytes) {
  return key(field, Wire::kBytes) + varint(bytes.size()) + std::string(bytes);
}
std::string integer_field(uint64_t field, int64_t value) {
  return key(field, Wire::kVarint) + varint(static_cast<uint64_t>(value));
}
std::string double_field(uint64_t field, double value) {
  return key(field, Wire::kFixed64) + little_endian(std::bit_cast<uint64_t>(value), 8);
}
std::string float_field(uint64_t field, float value) {
  return key(field, Wire::kFixed32) + little_endian(std::bit_cast<uint32_t>(value), 4);
}

// Event: wall_time 1, step 2, file_version 3, summary 5, session_log 7.
std::string event_begin(double time, int64_t step) {
  return double_field(1, time) + integer_field(2, step);
}

std::string host_name() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  return name.data();
}

}  // namespace

uint32_t crc32c(std::string_view bytes) {
  uint32_t crc = ~uint32_t{0};
  for (const char byte : bytes) crc = crc >> 8 ^ kTable[(crc ^ static_cast<unsigned char>(byte)) & 0xff];
  return ~crc;
}

uint32_t masked_crc32c(std::string_view bytes) {
  constexpr uint32_t kDelta = 0xa282ead8;
  return std::rotr(crc32c(bytes), 15) + kDelta;
}

std::string event_record(std::string_view payload) {
  const std::string length = little_endian(payload.size(), 8);
  return length + little_endian(masked_crc32c(length), 4) + std::string(payload) +
         little_endian(masked_crc32c(payload), 4);
}

std::string version_event(double time) {
  return double_field(1, time) + bytes_field(3, "brain.Event:2");
}

std::string session_event(double time, int64_t step) {
  constexpr int64_t kStart = 1;
  return event_begin(time, step) + bytes_field(7, integer_field(1, kStart));
}

std::string scalars_event(const LoggedLine& line) {
  std::string summary;  // Summary: value 1; Summary.Value: tag 1, simple_value 2
  for (const auto& [name, value] : line.metrics)
    summary += bytes_field(1, bytes_field(1, name) + float_field(2, static_cast<float>(value)));
  return event_begin(line.time, line.step) + bytes_field(5, summary);
}

EventFile::EventFile(const std::string& folder, const std::vector<LoggedLine>& log) {
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    throw Error(ErrorCode::kFileWrite, folder, fmt::format("cannot make the folder: {}", system_message()));
  const double now = seconds_since_1970();
  for (const std::string& name : names_in(folder)) {
    if (name.starts_with(kPrefix)) ::unlink((folder + "/" + name).c_str());  // also a file of another host
  }
  const std::string path = fmt::format("{}/{}{:.0f}.{}", folder, kPrefix, now, host_name());
  file_ = std::make_unique<AppendedFile>(path, [](std::string_view) { return size_t{0}; });
  std::string records = event_record(version_event(now)) + event_record(session_event(now, 0));
  for (const LoggedLine& line : log) records += event_record(scalars_event(line));
  file_->append(to_bytes(records));
}

void EventFile::write(const LoggedLine& line) {
  file_->append(to_bytes(event_record(scalars_event(line))));
}

}  // namespace deberta::train
