// Vectors of texts as one array in a file: NumPy's .npy, version 1.0, or .safetensors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "deberta/checkpoint.h"

namespace deberta::cli {

struct Vectors {
  size_t columns = 0;
  std::vector<float> values;    // rows of `columns`
  std::vector<int64_t> starts;  // several rows per text: the first row of each, and the end; empty: one row per text
};

// By its extension.
bool is_vector_file(const std::string& path);

// Throws kUsage for what the file's format cannot hold: starts and BF16 in .npy.
void check_vectors(const std::string& path, const Vectors& vectors, DType dtype);

// Written atomically, with `dtype` F32, F16 or BF16: in safetensors as `embeddings`, or `token_embeddings` and
// `starts`. Throws what check_vectors() throws, kNotFinite for a value beyond F16, kFileWrite.
void write_vectors(const std::string& path, const Vectors& vectors, DType dtype);

}  // namespace deberta::cli
