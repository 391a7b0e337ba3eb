// A tensor in a file: the struct that leaves this room.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/checked.h"

namespace deberta {

enum class DType { kF64, kF32, kF16, kBf16, kI64, kI32, kI16, kI8, kU8, kBool };

std::string_view to_string(DType dtype);  // the safetensors name: "F32"
size_t size_of(DType dtype);              // bytes of one element
std::optional<DType> parse_dtype(std::string_view name);
std::string list_dtypes();  // "F64, F32, ...", for messages
bool is_float(DType dtype);

using Shape = std::vector<int64_t>;
std::string to_string(const Shape& shape);  // "[2, 3]"
// Bytes of a tensor; nothing when a dimension is negative or the product does not fit into 64 bits.
std::optional<uint64_t> size_bytes_of(DType dtype, const Shape& shape);

struct TensorView {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  Bytes bytes;  // row-major, little-endian; mapped, owned by the file object

  size_t count() const { return bytes.size() / size_of(dtype); }
};

// The elements as fp32 (F64 rounded; integers exact below 2^24). Throws kTensors for Bool.
void to_fp32(const TensorView& tensor, float* out);
std::vector<float> to_fp32(const TensorView& tensor);
// The elements of an integer or Bool (0, 1) tensor. Throws kTensors for floats.
std::vector<int64_t> to_int64(const TensorView& tensor);

}  // namespace deberta
