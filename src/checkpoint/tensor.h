// Element types and shapes for readers and writers of tensor files, beyond deberta/checkpoint.h.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/checked.h"
#include "deberta/checkpoint.h"

namespace deberta {

std::optional<DType> parse_dtype(std::string_view name);
std::string list_dtypes();  // "F64, F32, ...", for messages
bool is_float(DType dtype);

std::string to_string(const Shape& shape);  // "[2, 3]"
// Bytes of a tensor; nothing when a dimension is negative or the product does not fit into 64 bits.
std::optional<uint64_t> size_bytes_of(DType dtype, const Shape& shape);

}  // namespace deberta
