// The norm of all gradients together, and the divisor that clips them by it.
#pragma once
#include <span>
#include <vector>

#include "base/parallel.h"
#include "train/optim/flat_buffers.h"

namespace deberta::train {

// The sum of the squares of each block of make_blocks(), in double and in a fixed order: the same for any number of
// threads. 0 exactly where all gradients of the block are 0; NaN or infinite exactly when one of them is.
std::vector<double> squares_by_block(const ParameterLayout& layout, const FlatBuffer& gradients,
                                     const Parallel& parallel);

// The L2 norm of all blocks.
double norm_of(std::span<const double> squares);

// The L2 norm over all parameters.
double global_norm(const ParameterLayout& layout, const FlatBuffer& gradients, const Parallel& parallel);

// What to divide gradients by, which are `loss_scale` times too large, so that their norm is at most `max_norm`; 0 or
// less: no limit. `norm` is theirs as they are, so that norm / loss_scale is the one to log.
double clip_divisor(double norm, double max_norm, double loss_scale = 1);

}  // namespace deberta::train
