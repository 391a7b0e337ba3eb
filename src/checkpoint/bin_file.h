// pytorch_model.bin as data: a state dict of tensors. Numbers, strings and containers next to them are skipped; any
// other deviation refuses the file, and there is no fallback that runs what a pickle asks for.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/file.h"
#include "checkpoint/tensor.h"

namespace deberta {

// Tensors that lie in their storage row by row are views of the file, even two in one storage; the others are copied
// into that order.
struct BinTensors {
  std::vector<TensorView> views;  // in the order of the state dict
  std::vector<std::vector<std::byte>> copies;
  std::vector<std::string> passed_over;  // entries that are not tensors: "config" (dict)
};
// `file` must outlive the views; `path` opens each message. Throws kBin.
BinTensors parse_bin(Bytes file, const std::string& path, bool checks_crc = true);

// The same for a mapped file. Throws kBin and what MappedFile throws.
class BinFile {
 public:
  explicit BinFile(const std::string& path, LoadMode mode = LoadMode::kMap, bool checks_crc = true)
      : file_(path, mode), tensors_(parse_bin(file_.bytes(), path, checks_crc)) {}

  const std::string& path() const { return file_.path(); }
  const std::vector<TensorView>& tensors() const { return tensors_.views; }
  const std::vector<std::string>& passed_over() const { return tensors_.passed_over; }

 private:
  MappedFile file_;
  BinTensors tensors_;
};

}  // namespace deberta
