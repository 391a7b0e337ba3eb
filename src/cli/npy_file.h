// NumPy's .npy, version 1.0: one array of floats or whole numbers.
#pragma once
#include <functional>
#include <string>

#include "base/file.h"
#include "deberta/checkpoint.h"

namespace deberta::cli {

// `values` writes exactly the bytes of dtype and shape: F64, F32, F16 or a signed integer. Replaces the file whole.
// Throws kFileWrite.
void write_npy(const std::string& path, DType dtype, const Shape& shape,
               const std::function<void(FileWriter&)>& values);

}  // namespace deberta::cli
