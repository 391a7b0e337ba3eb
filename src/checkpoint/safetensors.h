// The safetensors format: read mapped. deberta/checkpoint.h declares the writer.
#pragma once
#include <string>
#include <vector>

#include "base/file.h"
#include "checkpoint/tensor.h"

namespace deberta {

// One file. All rules of the format are checked before anything is used (docs/formats.md). Throws kSafetensors and what
// MappedFile throws.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);

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

}  // namespace deberta
