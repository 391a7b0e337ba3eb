// Size arithmetic that cannot wrap, and a bounds-checked view of bytes: used by every parser of untrusted bytes.
#pragma once
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace deberta {

// The sum or product, or nothing when it does not fit into 64 bits.
inline std::optional<uint64_t> checked_add(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) return std::nullopt;
  return result;
}
inline std::optional<uint64_t> checked_mul(uint64_t a, uint64_t b) {
  uint64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) return std::nullopt;
  return result;
}

// All of `text` as a number: no white space, no sign for unsigned types, no trailing characters.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

using Bytes = std::span<const std::byte>;

inline Bytes to_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}
inline std::string_view to_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// A position in a span of bytes. take() returns nothing, and does not advance, if fewer bytes are left.
class Reader {
 public:
  explicit Reader(Bytes bytes) : bytes_(bytes) {}

  size_t position() const { return position_; }
  size_t left() const { return bytes_.size() - position_; }

  std::optional<Bytes> take(uint64_t count) {
    if (count > left()) return std::nullopt;
    const Bytes result = bytes_.subspan(position_, static_cast<size_t>(count));
    position_ += static_cast<size_t>(count);
    return result;
  }
  std::optional<uint64_t> take_little_endian(size_t size_bytes) {
    const auto raw = take(size_bytes);
    if (!raw) return std::nullopt;
    uint64_t value = 0;
    for (size_t i = raw->size(); i-- > 0;) value = value << 8 | std::to_integer<uint64_t>((*raw)[i]);
    return value;
  }

 private:
  Bytes bytes_;
  size_t position_ = 0;
};

}  // namespace deberta
