// One array (.npy), or tensors (.safetensors).
#include "cli/vector_file.h"

#include "base/file.h"
#include "checkpoint/cast.h"
#include "checkpoint/safetensors.h"
#include "cli/npy_file.h"
#include "deberta/error.h"
#include "program/output.h"

namespace deberta::cli {
namespace {

bool is_npy(const std::string& path) {
  return program::ending_of(path) == "npy";
}

void write_values(const Vectors& vectors, DType dtype, const std::string& name, FileWriter& out) {
  const Bytes bytes = std::as_bytes(std::span(vectors.values));
  dtype == DType::kF32 ? out.write(bytes) : write_cast(bytes, DType::kF32, dtype, name, out);
}

}  // namespace

void check_vectors(const std::string& path, const Vectors& vectors, DType dtype) {
  if (!is_npy(path)) return;
  if (!vectors.starts.empty())
    throw Error(ErrorCode::kUsage, "--pooling",
                "expected auto, cls, mean or max for a .npy file, got none: texts have different lengths; write a "
                ".safetensors file");
  if (dtype == DType::kBf16)
    throw Error(ErrorCode::kUsage, "--output-dtype",
                "expected fp32 or fp16 for a .npy file, got bf16: NumPy has no such type; write a .safetensors file");
}

bool is_vector_file(const std::string& path) {
  return is_npy(path) || program::ending_of(path) == "safetensors";
}

void write_vectors(const std::string& path, const Vectors& vectors, DType dtype) {
  check_vectors(path, vectors, dtype);
  const Shape shape{static_cast<int64_t>(vectors.values.size() / vectors.columns),
                    static_cast<int64_t>(vectors.columns)};
  if (is_npy(path))
    return write_npy(path, dtype, shape, [&](FileWriter& out) { write_values(vectors, dtype, path, out); });
  const std::string name = vectors.starts.empty() ? "embeddings" : "token_embeddings";
  std::vector<TensorToWrite> tensors;
  tensors.push_back({name, dtype, shape, [&](FileWriter& out) { write_values(vectors, dtype, name, out); }});
  if (!vectors.starts.empty()) {
    tensors.push_back({"starts", DType::kI64, {static_cast<int64_t>(vectors.starts.size())}, [&](FileWriter& out) {
                         out.write(std::as_bytes(std::span(vectors.starts)));
                       }});
  }
  program::write_output(path, [&](FileWriter& out) {
    write_safetensors(out, path, tensors, {{"program", "deberta embed"}});
  });
}

}  // namespace deberta::cli
