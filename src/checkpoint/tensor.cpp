// Element types and their conversion. Every read goes through memcpy: tensors in files need not be aligned.
#include "checkpoint/tensor.h"

#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstring>

#include "deberta/error.h"

namespace deberta {
namespace {

struct DTypeRow {
  DType dtype;
  std::string_view name;
  size_t size_bytes;
};
constexpr std::array kDTypes = {
    DTypeRow{DType::kF64, "F64", 8},   DTypeRow{DType::kF32, "F32", 4}, DTypeRow{DType::kF16, "F16", 2},
    DTypeRow{DType::kBf16, "BF16", 2}, DTypeRow{DType::kI64, "I64", 8}, DTypeRow{DType::kI32, "I32", 4},
    DTypeRow{DType::kI16, "I16", 2},   DTypeRow{DType::kI8, "I8", 1},   DTypeRow{DType::kU8, "U8", 1},
    DTypeRow{DType::kBool, "BOOL", 1},
};

const DTypeRow& row_of(DType dtype) {
  return kDTypes.at(static_cast<size_t>(dtype));
}

template <class Stored, class Out, class Convert>
void convert_all(const TensorView& tensor, Out* out, Convert convert) {
  const std::byte* from = tensor.bytes.data();
  const size_t count = tensor.count();
  for (size_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, from + i * sizeof(Stored), sizeof(Stored));
    out[i] = convert(value);
  }
}

template <class Stored, class Out>
void cast_all(const TensorView& tensor, Out* out) {
  convert_all<Stored>(tensor, out, [](Stored value) { return static_cast<Out>(value); });
}

// The 15 bits of exponent and mantissa, moved into a float's place and scaled by 2^(127 - 15): right for normal and
// subnormal halves alike. Only infinity and NaN need their exponent set.
float half_to_float(uint16_t half) {
  const uint32_t moved = static_cast<uint32_t>(half & 0x7FFF) << 13;
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t finite = std::bit_cast<uint32_t>(std::bit_cast<float>(moved) * 0x1p112F);
  const uint32_t magnitude = (half & 0x7C00) == 0x7C00 ? moved | 0x7F800000 : finite;
  return std::bit_cast<float>(magnitude | sign);
}

float bfloat_to_float(uint16_t value) {
  return std::bit_cast<float>(static_cast<uint32_t>(value) << 16);
}

[[noreturn]] void refuse_dtype(const TensorView& tensor, std::string_view expected) {
  throw Error(ErrorCode::kTensors, tensor.name, fmt::format("expected {}, got {}", expected, to_string(tensor.dtype)));
}

}  // namespace

std::string_view to_string(DType dtype) {
  return row_of(dtype).name;
}

size_t size_of(DType dtype) {
  return row_of(dtype).size_bytes;
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const DTypeRow& row : kDTypes) {
    if (row.name == name) return row.dtype;
  }
  return std::nullopt;
}

std::string list_dtypes() {
  std::string text;
  for (const DTypeRow& row : kDTypes) {
    if (!text.empty()) text += ", ";
    text += row.name;
  }
  return text;
}

bool is_float(DType dtype) {
  return dtype == DType::kF64 || dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBf16;
}

std::string to_string(const Shape& shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  return text + "]";
}

std::optional<uint64_t> size_bytes_of(DType dtype, const Shape& shape) {
  std::optional<uint64_t> size = size_of(dtype);
  for (const int64_t dimension : shape) {
    if (dimension < 0) return std::nullopt;
    size = checked_mul(*size, static_cast<uint64_t>(dimension));
    if (!size) return std::nullopt;
  }
  return size;
}

void to_fp32(const TensorView& tensor, float* out) {
  switch (tensor.dtype) {
    case DType::kF64:
      return cast_all<double>(tensor, out);
    case DType::kF32:
      if (!tensor.bytes.empty()) std::memcpy(out, tensor.bytes.data(), tensor.bytes.size());
      return;
    case DType::kF16:
      return convert_all<uint16_t>(tensor, out, half_to_float);
    case DType::kBf16:
      return convert_all<uint16_t>(tensor, out, bfloat_to_float);
    case DType::kI64:
      return cast_all<int64_t>(tensor, out);
    case DType::kI32:
      return cast_all<int32_t>(tensor, out);
    case DType::kI16:
      return cast_all<int16_t>(tensor, out);
    case DType::kI8:
      return cast_all<int8_t>(tensor, out);
    case DType::kU8:
      return cast_all<uint8_t>(tensor, out);
    case DType::kBool:
      refuse_dtype(tensor, "numbers");
  }
}

std::vector<float> to_fp32(const TensorView& tensor) {
  std::vector<float> values(tensor.count());
  to_fp32(tensor, values.data());
  return values;
}

std::vector<int64_t> to_int64(const TensorView& tensor) {
  std::vector<int64_t> values(tensor.count());
  switch (tensor.dtype) {
    case DType::kI64:
      cast_all<int64_t>(tensor, values.data());
      break;
    case DType::kI32:
      cast_all<int32_t>(tensor, values.data());
      break;
    case DType::kI16:
      cast_all<int16_t>(tensor, values.data());
      break;
    case DType::kI8:
      cast_all<int8_t>(tensor, values.data());
      break;
    case DType::kU8:
    case DType::kBool:
      cast_all<uint8_t>(tensor, values.data());
      break;
    default:
      refuse_dtype(tensor, "integers");
  }
  return values;
}

}  // namespace deberta
