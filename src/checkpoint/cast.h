// Casts floating-point values: rounded to nearest, ties to even, straight from the stored value.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "base/file.h"
#include "checkpoint/tensor.h"

namespace deberta {

// Writes the elements of `bytes`, of type `from`, as `to`; both are floating-point. NaN stays NaN, infinity infinity.
// A piece at a time: the memory does not depend on the size. Throws kNotFinite, naming `name`, for a finite value that
// has no finite neighbour in `to`.
void write_cast(Bytes bytes, DType from, DType to, const std::string& name, FileWriter& out);

// The bits of the nearest value in half precision; those of infinity when a finite value is too large for it.
uint16_t f16_bits(float value);

// Whether each element of `written` is the nearest value to its source: checked against a bound, not by rounding again.
// Returns the first element that is not, or nothing.
std::optional<size_t> find_badly_rounded(Bytes source, DType from, Bytes written, DType to);

}  // namespace deberta
