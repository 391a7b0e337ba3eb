// x[t] = word[id[t]] + type[type_id[t]] + position[position_id[t]], stored as fp32. The norm and the mask that follow
// (after a projection when E != D) are layer_norm's. Tables stay where they are, in their own number format.
// T tokens  E embedding size
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/dispatch.h"

namespace deberta {

enum class TableFormat { kF32, kF16, kBf16 };

// Row-major [rows, E]; any alignment. rows = 0: no such table.
struct EmbeddingTable {
  const void* data = nullptr;
  TableFormat format = TableFormat::kF32;
  size_t rows = 0;
};

struct EmbeddingParams {
  EmbeddingTable word, type, position;
  const int32_t* ids_T = nullptr;
  const int32_t* type_ids_T = nullptr;      // null: all 0
  const int32_t* position_ids_T = nullptr;  // needed when position.rows > 0
  size_t tokens = 0;
  size_t columns = 0;  // E
  float* x_TE = nullptr;
  size_t x_stride = 0;  // 0: E
  Parallel parallel = serial();
};

// Every id must lie in its table: the caller has checked them. No allocation. Throws kInternal for null pointers.
void embedding(const KernelSet& kernels, const EmbeddingParams& params);

}  // namespace deberta
