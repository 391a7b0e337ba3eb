// Tensors that are in no file, replacing or extending those of a checkpoint.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "deberta/checkpoint.h"

namespace deberta {

struct MadeTensor {
  std::string name;  // canonical
  DType dtype = DType::kF32;
  Shape shape;
  std::vector<std::byte> bytes;
};

// `base` with these tensors; it stays open as long as the result.
Checkpoint replace_tensors(const Checkpoint& base, std::vector<MadeTensor> tensors);

}  // namespace deberta
