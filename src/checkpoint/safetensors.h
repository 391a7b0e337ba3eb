// The safetensors format: read mapped. deberta/checkpoint.h declares the writer.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "checkpoint/tensor.h"

namespace deberta {

// One file. All rules of the format are checked before anything is used (docs/reference/weights.md). Throws
// kSafetensors and what MappedFile throws.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path, LoadMode mode = LoadMode::kMap);

  const std::string& path() const { return file_.path(); }
  const std::vector<TensorView>& tensors() const { return tensors_; }  // in the order of the bytes
  const TensorView* find(std::string_view name) const;                 // nullptr when absent
  const Metadata& metadata() const { return metadata_; }

 private:
  MappedFile file_;
  std::vector<TensorView> tensors_;
  std::vector<size_t> by_name_;  // indices into tensors_, sorted by name
  Metadata metadata_;
};

// A tensor whose bytes are made while the file is written: a model larger than the memory can be written.
struct TensorToWrite {
  std::string name;
  DType dtype = DType::kF32;
  Shape shape;
  std::function<void(FileWriter&)> write;  // exactly the bytes of dtype and shape
};

// Tensors are laid out in the order given, header padded to 8 bytes. `path` is for messages. Throws kSafetensors (a
// repeated name, too large, bytes that do not match the shape) and what the writer throws.
void write_safetensors(FileWriter& file, const std::string& path, const std::vector<TensorToWrite>& tensors,
                       const Metadata& metadata);

// Their bytes are read when they are written.
std::vector<TensorToWrite> to_write(const std::vector<TensorView>& tensors);

}  // namespace deberta
