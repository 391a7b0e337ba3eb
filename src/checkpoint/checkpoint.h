// The weights of a model directory, whatever the files: model.safetensors, its shards, or pytorch_model.bin.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/safetensors.h"
#include "config/model_config.h"

namespace deberta {

// A head is recognised by its tensors (the tensors win over `architectures`; a disagreement is a warning).
enum class Head { kNone, kSequence, kToken, kTokenOriginal, kSpan, kMaskedLm, kReplacedToken };
std::string_view to_string(Head head);

class Checkpoint {
 public:
  // Finds the files in `folder`. Throws kFileNotFound (listing the names looked for), kSafetensors, kBin, kJson,
  // kTensors, kUnsupported (shards of pytorch_model.bin).
  static Checkpoint open(const std::string& folder);
  // One .safetensors or .bin file, told apart by the ending, with any names.
  static Checkpoint open_file(const std::string& path);

  // By canonical name (tensor_table.h): the prefix of the file ("deberta.", "bert.", none) is taken off.
  const TensorView* find(std::string_view canonical_name) const;
  const std::vector<TensorView>& tensors() const;  // canonical names, sorted
  std::string_view prefix() const;                 // as found in the file
  std::vector<std::string> paths() const;          // the files
  uint64_t size_bytes() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace deberta
