// Every type here fits into a double exactly, so there is one way from each to each, through a double.
#include "checkpoint/cast.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <span>

#include "deberta/error.h"

namespace deberta {
namespace {

constexpr size_t kPieceElements = 16384;

struct Format {
  uint32_t exponent_bits;
  uint32_t mantissa_bits;
};
Format format_of(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return {5, 10};
    case DType::kBf16:
      return {8, 7};
    case DType::kF32:
      return {8, 23};
    default:
      return {11, 52};
  }
}

constexpr uint32_t kDoubleMantissa = 52;
constexpr uint64_t kMantissaMask = (uint64_t{1} << kDoubleMantissa) - 1;

// The bits of the nearest value of `format`; those of infinity when a finite value is too large for it.
uint64_t round_to(Format format, double value) {
  const uint32_t m = format.mantissa_bits;
  const auto bits = std::bit_cast<uint64_t>(value);
  const uint64_t sign = (bits >> 63) << (format.exponent_bits + m);
  const uint64_t infinity = ((uint64_t{1} << format.exponent_bits) - 1) << m;
  const auto exponent = static_cast<int32_t>(bits >> kDoubleMantissa & 0x7FF);
  const uint64_t mantissa = bits & kMantissaMask;
  if (exponent == 0x7FF) {
    const uint64_t payload = mantissa == 0 ? 0 : mantissa >> (kDoubleMantissa - m) | uint64_t{1} << (m - 1);
    return sign | infinity | payload;
  }
  if (exponent == 0) return sign;  // zero, or far below the smallest value of any narrower type
  const int32_t bias = (1 << (format.exponent_bits - 1)) - 1;
  const int32_t wanted = exponent - 1023 + bias;  // below 1: a subnormal value
  const uint32_t shift = kDoubleMantissa - m + (wanted < 1 ? static_cast<uint32_t>(1 - wanted) : 0);
  if (shift > kDoubleMantissa + 2) return sign;
  const uint64_t significand = mantissa | uint64_t{1} << kDoubleMantissa;
  const uint64_t rest = significand & ((uint64_t{1} << shift) - 1);
  const uint64_t half = (uint64_t{1} << shift) >> 1;
  uint64_t kept = significand >> shift;
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // The leading one of a normal value, and a carry out of the mantissa, add to the exponent by themselves.
  const uint64_t base = wanted < 1 ? 0 : static_cast<uint64_t>(wanted - 1) << m;
  return sign | std::min(base + kept, infinity);
}

void read_piece(Bytes bytes, DType from, std::vector<double>& values) {
  const size_t count = bytes.size() / size_of(from);
  values.resize(count);
  if (from == DType::kF64) {
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return;
  }
  const std::vector<float> singles = to_fp32(TensorView{{}, from, {}, bytes});
  std::copy(singles.begin(), singles.end(), values.begin());
}

// Every 16-bit value is exact in single precision.
void write_widened(Bytes bytes, DType from, FileWriter& out) {
  const size_t piece_bytes = kPieceElements * size_of(from);
  for (size_t done = 0; done < bytes.size(); done += piece_bytes) {
    const Bytes piece = bytes.subspan(done, std::min(piece_bytes, bytes.size() - done));
    const std::vector<float> values = to_fp32(TensorView{{}, from, {}, piece});
    out.write(std::as_bytes(std::span(values)));
  }
}

bool is_finite(DType dtype, uint64_t bits) {
  const Format format = format_of(dtype);
  const uint64_t infinity = ((uint64_t{1} << format.exponent_bits) - 1) << format.mantissa_bits;
  return (bits & infinity) != infinity;
}

uint64_t to_bits(double value, DType to) {
  if (to == DType::kF64) return std::bit_cast<uint64_t>(value);
  return round_to(format_of(to), value);
}

// Half the distance between neighbours of `to` around `value`, which is finite: what rounding may change.
double half_step(double value, Format format) {
  const double power = std::bit_cast<double>(std::bit_cast<uint64_t>(value) & (uint64_t{0x7FF} << kDoubleMantissa));
  const int32_t least = 2 - (1 << (format.exponent_bits - 1));  // exponent of the smallest normal value
  const double floor = std::ldexp(1.0, std::max(least, -1022));
  return std::ldexp(std::max(power, floor), -static_cast<int32_t>(format.mantissa_bits) - 1);
}

}  // namespace

uint16_t f16_bits(float value) {
  return static_cast<uint16_t>(round_to(format_of(DType::kF16), value));
}

void write_cast(Bytes bytes, DType from, DType to, const std::string& name, FileWriter& out) {
  const size_t source_size = size_of(from), size = size_of(to);
  if (to == DType::kF32 && source_size == 2) return write_widened(bytes, from, out);
  std::vector<double> values;
  std::vector<std::byte> piece;
  for (size_t done = 0; done < bytes.size(); done += kPieceElements * source_size) {
    read_piece(bytes.subspan(done, std::min(kPieceElements * source_size, bytes.size() - done)), from, values);
    piece.resize(values.size() * size);
    for (size_t i = 0; i < values.size(); ++i) {
      const uint64_t bits = to_bits(values[i], to);
      if (std::isfinite(values[i]) && !is_finite(to, bits)) {
        throw Error(ErrorCode::kNotFinite, name,
                    fmt::format("the value {} is too large for {}; choose a type with a wider range", values[i],
                                to_string(to)));
      }
      std::memcpy(piece.data() + i * size, &bits, size);  // little-endian: the low bytes come first
    }
    out.write(Bytes(piece));
  }
}

std::optional<size_t> find_badly_rounded(Bytes source, DType from, Bytes written, DType to) {
  const size_t source_size = size_of(from), size = size_of(to);
  const Format format = format_of(to);
  std::vector<double> values, results;
  for (size_t first = 0; first * source_size < source.size(); first += kPieceElements) {
    const size_t count = std::min(kPieceElements, source.size() / source_size - first);
    read_piece(source.subspan(first * source_size, count * source_size), from, values);
    read_piece(written.subspan(first * size, count * size), to, results);
    for (size_t i = 0; i < count; ++i) {
      const double value = values[i], result = results[i];
      const bool is_right = std::isnan(value)   ? std::isnan(result)
                            : std::isinf(value) ? value == result
                                                : std::abs(value - result) <= half_step(value, format);
      if (!is_right) return first + i;
    }
  }
  return std::nullopt;
}

}  // namespace deberta
