// A model in another format: the tensors to write, each as runs of bytes of existing tensors, and its config.json.
// Planned here, written by model_writer.h; nothing is read or copied before it is written. Of a GLiNER model the
// configuration is gliner_config.json.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "checkpoint/tensor.h"
#include "deberta/checkpoint.h"
#include "deberta/config.h"

namespace deberta {

struct ConversionOptions {
  std::optional<DType> dtype;      // for floating-point tensors; nullopt: each keeps its own
  std::optional<Layout> layout;    // nothing: as it is
  bool has_hf_head_names = false;  // cls.predictions.* for lm_predictions.lm_head.*
  bool drops_delta = false;        // leaves out `_weight`, which only the training of a pair reads
};

// One difference from the source. `change`: renamed, split, joined, cast, made, dropped, kept, written, left out.
struct Change {
  std::string subject;  // a tensor as the files named it, config.json, or a file
  std::string change;
  std::string detail;
};

struct PlannedTensor {
  std::string name;       // as it is written
  std::string canonical;  // as Checkpoint names it when it is read again
  DType from = DType::kF32;
  DType dtype = DType::kF32;
  Shape shape;
  std::vector<Bytes> runs;  // all elements in order, of type `from`

  uint64_t size_bytes() const { return *size_bytes_of(dtype, shape); }
  void write(FileWriter& out) const;  // throws what write_cast throws
};

struct Conversion {
  Json config;
  std::string config_file;             // its name
  std::vector<PlannedTensor> tensors;  // sorted by name
  std::vector<Change> changes;
  std::vector<std::string> source_files;                           // names of the weight files that all this comes from
  std::vector<std::shared_ptr<std::vector<std::byte>>> new_bytes;  // bytes that are in no file: biases of zeros

  uint64_t size_bytes() const;
};

// `checkpoint` must outlive the result. Every tensor of it is written or is in `changes`. Throws kTensors (all that
// compare_tensors finds), kUnsupported (all reasons why the layout cannot hold the model).
Conversion plan_conversion(const Checkpoint& checkpoint, const ModelConfig& config, const ConversionOptions& options,
                           const std::string& where);

// Compares every tensor of `written` with the plan that it was made from: bytes, or the bound on rounding. Throws
// kTensors.
void verify_tensors(const Conversion& conversion, const Checkpoint& written, const std::string& where);

}  // namespace deberta
