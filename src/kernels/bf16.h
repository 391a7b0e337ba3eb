// bf16, the upper half of an fp32: rounded to nearest, ties to even; a NaN stays a quiet NaN. The only scalar
// conversion in the project. Not for files compiled with wider flags.
#pragma once
#include <bit>
#include <cstdint>

namespace deberta {

using Bf16 = uint16_t;  // the bits

inline Bf16 to_bf16(float x) {
  const auto bits = std::bit_cast<uint32_t>(x);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<Bf16>((bits >> 16) | 0x40u);
  return static_cast<Bf16>((bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16);
}

inline float from_bf16(Bf16 x) {
  return std::bit_cast<float>(uint32_t{x} << 16);
}

}  // namespace deberta
