// One class drawn from the softmax of each row of logits: the first v with  sum_{u <= v} p[u] > uniform.  The uniform
// number of a row is a function of the key, its sample's number and its position alone, so neither batches nor threads
// change an id. Sums run in double, in one order.
// R rows  V classes
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/dispatch.h"

namespace deberta {

struct SampleIdsParams {
  const float* logits_RV = nullptr;
  size_t stride = 0;  // elements between rows; 0: V
  size_t rows = 0;
  size_t classes = 0;
  uint64_t key = 0;
  const uint64_t* samples_R = nullptr;   // global number of the sample that a row belongs to
  const int32_t* positions_R = nullptr;  // position of the row within its sequence
  int32_t* ids_R = nullptr;              // -1 for a row with a NaN or +infinity, or with -infinity alone
  Parallel parallel = serial();
};

// In [0, 1): 53 bits of the Philox counter (position, 0, sample, sample >> 32).
double sample_uniform(uint64_t key, uint64_t sample, int32_t position);

// No allocation. Throws kInternal for null pointers and no classes.
void sample_ids(const KernelSet& kernels, const SampleIdsParams& params);

}  // namespace deberta
