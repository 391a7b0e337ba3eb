// Vectors of texts as one array in a file: .npy of NumPy, version 1.0, or .safetensors.
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
  std::vector<int64_t> starts;  // several rows a text: the first row of each, and the end; empty: one row a text
};

// By its name.
bool is_vector_file(const std::string& path);

// Throws kUsage for what the file's format cannot hold: starts and BF16 in .npy.
void check_vectors(const std::string& path, const Vectors& vectors, DType dtype);

// Written atomically, `dtype` of F32, F16, BF16: in safetensors as `embeddings`, or `token_embeddings` and `starts`.
// Throws as check_vectors, kNotFinite for a value beyond F16, kFileWrite.
void write_vectors(const std::string& path, const Vectors& vectors, DType dtype);

}  // namespace deberta::cli
