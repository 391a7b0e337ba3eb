// The gradient of a look-up: table[ids[t]] += dx[t]. Tokens are sorted by id; within an id they are added in ascending
// order of t, by one thread. So each row of the table is one chain of sums, whatever the threads and the
// implementation. Rows that no token names are not touched.
// T tokens  E columns
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/dispatch.h"

namespace deberta {

struct EmbeddingGradientParams {
  const int32_t* ids_T = nullptr;
  const float* dx_TE = nullptr;
  size_t tokens = 0;
  size_t columns = 0;
  float* table_VE = nullptr;  // added to
  size_t table_rows = 0;      // V
  int32_t skipped_id = -1;    // the padding id: its row gets nothing through the look-up (model.md#embeddings)
  void* scratch = nullptr;    // embedding_gradient_scratch_bytes, 64-byte aligned, any contents
  Parallel parallel = serial();
};

size_t embedding_gradient_scratch_bytes(size_t tokens);

// No allocation. Throws kInternal for null pointers and an id outside the table.
void embedding_gradient(const KernelSet& kernels, const EmbeddingGradientParams& params);

}  // namespace deberta
