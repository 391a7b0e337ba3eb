// Timing of forward passes over random ids: batches, durations and their percentiles. No printing.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "deberta/model.h"

namespace deberta::measure {

// Durations of one piece of work, in seconds, in ascending order.
class Durations {
 public:
  explicit Durations(std::vector<double> seconds);
  double least() const { return seconds_.front(); }
  double percentile(double p) const;  // nearest rank, p in (0, 100]
  size_t count() const { return seconds_.size(); }

 private:
  std::vector<double> seconds_;
};

double steady_seconds();  // from a clock that never goes back

// For each piece of work, two warm-up runs (one if it takes all of `budget_s`), then timed runs until it has had
// `budget_s` and `least_runs`. They take turns, the one with the least time so far next, so that a machine that slows
// down slows all of them. `between` receives the work and the seconds of each timed run before the next one begins.
// Throws Interrupted after Ctrl-C.
std::vector<Durations> measure(double budget_s, size_t least_runs, std::span<const std::function<void()>> works,
                               const std::function<void(size_t, double)>& between = {},
                               const std::function<double()>& clock = steady_seconds);

// Sequences of random ids: the same for the same lengths.
Batch random_batch(std::span<const int32_t> lengths, int64_t vocab_size);

// Random ids in packs of at most `budget_tokens`, by length (pipeline/packer.h).
std::vector<Batch> packed_batches(const std::vector<int32_t>& lengths, size_t budget_tokens, int64_t vocab_size);

// One length per line. Throws kInput for a line that is not a number in 1 .. 2^20, and what reading the file throws.
std::vector<int32_t> load_lengths(const std::string& path);

// Peak resident memory of this process so far, in MiB.
uint64_t peak_memory_mb();

}  // namespace deberta::measure
