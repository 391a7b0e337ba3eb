// The weights of a model directory in any format: model.safetensors or pytorch_model.bin, each as one file or as
// shards with an index.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "deberta/config.h"
#include "deberta/error.h"

namespace deberta {

enum class DType { kF64, kF32, kF16, kBf16, kI64, kI32, kI16, kI8, kU8, kBool };

DEBERTA_API std::string_view to_string(DType dtype);  // the safetensors name: "F32"
DEBERTA_API size_t size_of(DType dtype);              // bytes of one element

using Shape = std::vector<int64_t>;

struct TensorView {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  std::span<const std::byte> bytes;  // row-major, little-endian; mapped, owned by the file object

  size_t count() const { return bytes.size() / size_of(dtype); }
};

// The elements as fp32 (F64 rounded; integers exact below 2^24). Throws kTensors for Bool.
DEBERTA_API void to_fp32(const TensorView& tensor, float* out);
DEBERTA_API std::vector<float> to_fp32(const TensorView& tensor);
// The elements of an integer or Bool (0, 1) tensor. Throws kTensors for floats.
DEBERTA_API std::vector<int64_t> to_int64(const TensorView& tensor);

struct OpenOptions {
  bool reads_whole = false;  // into memory instead of mapping: the files may then change or shrink during use
  bool checks_crc = true;    // verifies the CRC of the storages in a torch.save zip
};

struct MadeTensor;

// Copies share the open files.
class DEBERTA_API Checkpoint {
 public:
  // Finds the files in `folder`. Throws kFileNotFound (listing the names looked for), kSafetensors, kBin, kJson,
  // kTensors (a tensor that is not in the shard given by the index).
  static Checkpoint open(const std::string& folder, const OpenOptions& options = {});
  // One .safetensors or .bin file, by its extension, with any tensor names.
  static Checkpoint open_file(const std::string& path, const OpenOptions& options = {});
  // Tensors in memory, under the names that a file would have for them. The bytes are not copied: they must outlive the
  // result, its copies and the models loaded from it. `where` stands for the file in messages and in paths(). Throws
  // kTensors (a name twice, bytes that do not match the shape).
  static Checkpoint from_memory(const std::vector<TensorView>& tensors, const std::string& where);
  ~Checkpoint();
  Checkpoint(const Checkpoint& other);
  Checkpoint(Checkpoint&& other) noexcept;
  Checkpoint& operator=(Checkpoint other) noexcept;

  // By canonical name: the name in transformers without its prefix. The prefix in the file ("deberta.", "bert.", none)
  // is removed.
  const TensorView* find(std::string_view canonical_name) const;
  const std::vector<TensorView>& tensors() const&;       // canonical names, sorted
  const std::vector<TensorView>& tensors() && = delete;  // they would not outlive the statement
  // The name in the file of the tensor with this canonical name, which must exist.
  std::string_view stored_name(const std::string& canonical_name) const;
  std::string_view prefix() const;         // as found in the file
  std::vector<std::string> paths() const;  // the files
  uint64_t size_bytes() const;

 private:
  friend Checkpoint replace_tensors(const Checkpoint& base, std::vector<MadeTensor> tensors);
  struct State;
  explicit Checkpoint(const State* state);
  // An owned pointer: <memory> would double the compile time of this header.
  const State* state_;
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

// Writes a safetensors file atomically: a crash leaves the old file or the new one. Tensors keep the given order; the
// header is padded to 8 bytes. Throws kFileWrite, kSafetensors (a repeated name, bytes that do not match the shape).
DEBERTA_API void write_safetensors(const std::string& path, const std::vector<TensorView>& tensors,
                                   const Metadata& metadata = {});

}  // namespace deberta
