// The weights of a model directory, whatever the files: model.safetensors or pytorch_model.bin, each in one file or in
// shards that an index names.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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

// A head is recognised by its tensors (the tensors win over `architectures`; a disagreement is a warning).
enum class Head { kNone, kSequence, kToken, kTokenOriginal, kSpan, kMaskedLm, kReplacedToken };
DEBERTA_API std::string_view to_string(Head head);

struct OpenOptions {
  bool reads_whole = false;  // into memory, instead of mapping the files: others may then change or shorten them
  bool checks_crc = true;    // of the storages in a zip of torch.save
};

struct MadeTensor;

// Copies share the open files.
class DEBERTA_API Checkpoint {
 public:
  // Finds the files in `folder`. Throws kFileNotFound (listing the names looked for), kSafetensors, kBin, kJson,
  // kTensors (a tensor that is not in the shard where the index says).
  static Checkpoint open(const std::string& folder, const OpenOptions& options = {});
  // One .safetensors or .bin file, told apart by the ending, with any names.
  static Checkpoint open_file(const std::string& path, const OpenOptions& options = {});
  ~Checkpoint();
  Checkpoint(const Checkpoint& other);
  Checkpoint(Checkpoint&& other) noexcept;
  Checkpoint& operator=(Checkpoint other) noexcept;

  // By canonical name, as transformers names it without its prefix: the prefix of the file ("deberta.", "bert.", none)
  // is taken off.
  const TensorView* find(std::string_view canonical_name) const;
  const std::vector<TensorView>& tensors() const&;       // canonical names, sorted
  const std::vector<TensorView>& tensors() && = delete;  // they would not outlive the statement
  // What the file calls the tensor of this canonical name, which must be there.
  std::string_view stored_name(const std::string& canonical_name) const;
  std::string_view prefix() const;         // as found in the file
  std::vector<std::string> paths() const;  // the files
  uint64_t size_bytes() const;

 private:
  friend Checkpoint replace_tensors(const Checkpoint& base, std::vector<MadeTensor> tensors);
  struct State;
  explicit Checkpoint(const State* state);
  // An owned pointer: <memory> would double what this header takes to compile.
  const State* state_;
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

// Writes a safetensors file so that a crash leaves the old one or the new one. Tensors are laid out in the order given,
// header padded to 8 bytes. Throws kFileWrite, kSafetensors (a name twice, bytes that do not match the shape).
DEBERTA_API void write_safetensors(const std::string& path, const std::vector<TensorView>& tensors,
                                   const Metadata& metadata = {});

}  // namespace deberta
