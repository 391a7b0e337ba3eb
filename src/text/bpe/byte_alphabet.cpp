// Computed in both directions from three ranges of bytes; no table is stored.
#include "text/bpe/byte_alphabet.h"

namespace deberta {
namespace {

// Printable bytes stand for themselves; the others, in order, for U+0100 and what follows.
constexpr uint32_t kFirst = 0x100;
constexpr uint32_t kLow = 33;           // bytes 0 .. 32
constexpr uint32_t kMiddleBegin = 127;  // bytes 127 .. 160
constexpr uint32_t kMiddle = 34;
constexpr uint32_t kSoftHyphen = 173;

constexpr bool is_printable(uint32_t byte) {
  return byte >= kLow && byte < 256 && !(byte >= 127 && byte <= 160) && byte != kSoftHyphen;
}

}  // namespace

char32_t to_alphabet(uint8_t byte) {
  if (is_printable(byte)) return byte;
  if (byte < kLow) return kFirst + byte;
  return byte == kSoftHyphen ? kFirst + kLow + kMiddle : kFirst + kLow + (byte - kMiddleBegin);
}

std::optional<uint8_t> from_alphabet(char32_t point) {
  if (is_printable(point)) return static_cast<uint8_t>(point);
  if (point < kFirst || point > kFirst + kLow + kMiddle) return std::nullopt;
  const uint32_t rank = point - kFirst;
  if (rank < kLow) return static_cast<uint8_t>(rank);
  return static_cast<uint8_t>(rank == kLow + kMiddle ? kSoftHyphen : rank - kLow + kMiddleBegin);
}

}  // namespace deberta
