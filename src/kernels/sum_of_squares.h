// sum_i x[i]^2 in double, for the norm of gradients. Sums of blocks and the tree above them depend on the count alone:
// the same bits for any number of threads and on every processor.
// N elements
#pragma once
#include <cstddef>

#include "base/parallel.h"

namespace deberta {

// Finite exactly when every element is.
double sum_of_squares(const float* x, size_t count, const Parallel& parallel = serial());

}  // namespace deberta
