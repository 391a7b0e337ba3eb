// The protobuf wire format, reading only: one field after another of one message. Knows no schema.
// Varints take at most 10 bytes, lengths stay inside the message, groups are refused.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/checked.h"

namespace deberta {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;      // kVarint, kFixed64, kFixed32
  std::string_view bytes;  // kBytes
};

class WireReader {
 public:
  // `where` (the file) opens the messages; `message` must outlive the reader.
  WireReader(std::string_view message, std::string_view where) : reader_(to_bytes(message)), where_(where) {}

  // False at the end of the message. Throws kTokenizerFile.
  bool next(WireField& field);

 private:
  uint64_t take_varint();
  [[noreturn]] void refuse(const std::string& message) const;

  Reader reader_;
  std::string_view where_;
};

}  // namespace deberta
