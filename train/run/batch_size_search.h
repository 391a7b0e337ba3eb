// A search for the largest part of a step for which there is memory.
#pragma once
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>

#include "train/run/learner.h"

namespace deberta::train {

struct BatchSizeSearch {
  size_t samples_per_step = 1;
  size_t accumulation = 1;    // the fewest parts that are asked for
  uint64_t memory_bytes = 0;  // the most that the process may take
};

// Computes a step in so many parts, of which nothing is kept: the most memory that the process took meanwhile, in
// bytes; nothing where there was not enough.
using TryStep = std::function<std::optional<uint64_t>(size_t accumulation)>;

// The fewest parts, a divisor of the samples of a step, at which the process takes at most nine tenths of its memory.
// The smallest parts are tried first, and larger ones only where what these took leaves room for them: a system that is
// out of memory may end the process. Throws kOutOfMemory where a sample by itself is too much.
size_t find_accumulation(const BatchSizeSearch& search, const TryStep& try_step);

// The same with the first step of the learners that make() returns; nothing once stopped: make() then returns null.
using MakeLearnerInParts = std::function<std::unique_ptr<Learner>(size_t accumulation)>;
std::optional<size_t> find_accumulation(size_t samples_per_step, size_t accumulation, const MakeLearnerInParts& make);

// Whether LibTorch or the C++ library had no memory left.
bool is_out_of_memory(const std::exception& error);

}  // namespace deberta::train
