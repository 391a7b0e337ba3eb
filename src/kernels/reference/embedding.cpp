// Embedding of one token: at most three rows, added in double.
#include "kernels/embedding.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "kernels/reference/reference.h"

namespace deberta {
namespace {

template <class Bits>
Bits read_bits(const void* data, size_t index) {
  Bits bits{};
  std::memcpy(&bits, static_cast<const unsigned char*>(data) + index * sizeof bits, sizeof bits);
  return bits;
}

double from_half(uint16_t bits) {
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const int exponent = bits >> 10 & 0x1F;
  const int fraction = bits & 0x3FF;
  if (exponent == 31) return fraction != 0 ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * std::ldexp(fraction, -24);
  return sign * std::ldexp(1024 + fraction, exponent - 25);
}

double element(const EmbeddingTable& table, size_t index) {
  switch (table.format) {
    case TableFormat::kF32:
      return double{std::bit_cast<float>(read_bits<uint32_t>(table.data, index))};
    case TableFormat::kF16:
      return from_half(read_bits<uint16_t>(table.data, index));
    case TableFormat::kBf16: {
      return double{std::bit_cast<float>(uint32_t{read_bits<uint16_t>(table.data, index)} << 16)};
    }
  }
  return 0;
}

}  // namespace

void reference_embedding(const EmbeddingParams& p, size_t token) {
  const auto first = [&](const int32_t* ids_T) {
    return (ids_T != nullptr ? static_cast<size_t>(ids_T[token]) : 0) * p.columns;
  };
  float* x_E = p.x_TE + token * (p.x_stride > 0 ? p.x_stride : p.columns);
  for (size_t e = 0; e < p.columns; ++e) {
    double sum = element(p.word, first(p.ids_T) + e);
    if (p.type.rows > 0) sum += element(p.type, first(p.type_ids_T) + e);
    if (p.position.rows > 0) sum += element(p.position, first(p.position_ids_T) + e);
    x_E[e] = static_cast<float>(sum);
  }
}

}  // namespace deberta
