// Reads varints, fixed-size numbers and length-delimited fields from a span, with every bound checked.
#include "text/spm/wire.h"

#include <fmt/format.h>

#include "deberta/error.h"

namespace deberta {
namespace {

constexpr size_t kMaxVarintBytes = 10;
constexpr uint64_t kMaxFieldNumber = (uint64_t{1} << 29) - 1;

}  // namespace

void WireReader::refuse(const std::string& message) const {
  throw Error(ErrorCode::kTokenizerFile, std::string(where_),
              fmt::format("damaged at byte {} of a message: {}; download the file again", reader_.position(), message));
}

uint64_t WireReader::take_varint() {
  uint64_t value = 0;
  for (size_t i = 0; i < kMaxVarintBytes; ++i) {
    const auto byte = reader_.take_little_endian(1);
    if (!byte) refuse("truncated varint");
    const uint64_t part = *byte & 0x7F;
    if (i == kMaxVarintBytes - 1 && part > 1) refuse("a varint does not fit into 64 bits");
    value |= part << (7 * i);
    if ((*byte & 0x80) == 0) return value;
  }
  refuse("a varint is longer than 10 bytes");
}

bool WireReader::next(WireField& field) {
  if (reader_.left() == 0) return false;
  const uint64_t key = take_varint();
  const uint64_t number = key >> 3;
  if (number == 0 || number > kMaxFieldNumber)
    refuse(fmt::format("expected a field number in 1..2^29-1, got {}", number));
  field.number = static_cast<uint32_t>(number);
  field.value = 0;
  field.bytes = {};
  switch (key & 7) {
    case 0:
      field.type = WireType::kVarint;
      field.value = take_varint();
      return true;
    case 2: {
      field.type = WireType::kBytes;
      const uint64_t size_bytes = take_varint();
      const size_t left = reader_.left();
      const auto bytes = reader_.take(size_bytes);
      if (!bytes) refuse(fmt::format("field {} claims {} bytes, {} are left", number, size_bytes, left));
      field.bytes = to_text(*bytes);
      return true;
    }
    case 1:
    case 5: {
      const bool is_wide = (key & 7) == 1;
      field.type = is_wide ? WireType::kFixed64 : WireType::kFixed32;
      const auto value = reader_.take_little_endian(is_wide ? 8 : 4);
      if (!value) refuse(fmt::format("truncated field {}", number));
      field.value = *value;
      return true;
    }
    default:
      refuse(fmt::format("field {} has wire type {}; groups and unknown types are refused", number, key & 7));
  }
}

}  // namespace deberta
