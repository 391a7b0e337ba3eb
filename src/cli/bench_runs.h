// Timing of forward passes over random ids: batches, durations and what they say. No printing.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "deberta/model.h"

namespace deberta::cli {

// Durations of one piece of work, in seconds, ascending.
class Durations {
 public:
  explicit Durations(std::vector<double> seconds);
  double least() const { return seconds_.front(); }
  double percentile(double p) const;  // nearest rank, p in (0, 100]
  size_t count() const { return seconds_.size(); }

 private:
  std::vector<double> seconds_;
};

// Two runs that do not count (one when it takes all of `budget_s`), then runs until `budget_s` is over, at least
// `least_runs`.
// `between` hears of each run that counts, in seconds, before the next one begins.
Durations measure(double budget_s, size_t least_runs, const std::function<void()>& work,
                  const std::function<void(double)>& between = {});

// Sequences of random ids: the same for the same lengths.
Batch random_batch(std::span<const int32_t> lengths, int64_t vocab_size);

// Lengths sorted and packed, at most `budget_tokens` in a batch (a longer sequence has one of its own).
std::vector<Batch> packed_batches(std::vector<int32_t> lengths, size_t budget_tokens, int64_t vocab_size);

// One length a line. Throws kInput for a line that is no number in 1 .. 2^20, and what reading the file throws.
std::vector<int32_t> load_lengths(const std::string& path);

// Largest resident memory of this process so far, MiB.
uint64_t peak_memory_mb();

}  // namespace deberta::cli
