// The .npy format of NumPy, version 1.0, single precision.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace deberta::cli {

// values: rows of `columns` elements. Written atomically. Throws kFileWrite.
void write_npy_file(const std::string& path, std::span<const float> values, size_t columns);

}  // namespace deberta::cli
