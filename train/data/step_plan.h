// Which samples each step takes, and how long their sequences are. The length may change during a run; a step always
// has the same number of tokens.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace deberta::train {

struct LengthStage {
  uint64_t first_step = 0;
  size_t max_tokens = 512;  // in a sequence, [CLS] and [SEP] included
};

// Samples are numbered over the whole run. Step t of stage s takes first to first + count_s - 1:
//   count_s = tokens_per_step / max_tokens_s
//   first   = sum over the stages before s of steps * count,  + (t - first_step_s) * count_s
// Each number belongs to one step, and the next step goes on where this one ends.
struct StepSamples {
  uint64_t first = 0;
  size_t count = 0;
  size_t max_tokens = 0;
  size_t stage = 0;
  uint64_t first_in_stage = 0;  // `first` without the stages before
};

class StepPlan {
 public:
  // Stages by ascending first step, from 0. Throws kUsage, also where a step is no whole number of sequences.
  StepPlan(size_t tokens_per_step, std::vector<LengthStage> stages);

  StepSamples at(uint64_t step) const;
  const std::vector<LengthStage>& stages() const { return stages_; }

 private:
  size_t count_of(size_t stage) const { return tokens_per_step_ / stages_[stage].max_tokens; }

  size_t tokens_per_step_;
  std::vector<LengthStage> stages_;
};

// Short sequences first, long ones in the last `long_share` of the steps.
std::vector<LengthStage> two_lengths(uint64_t steps, size_t short_tokens, size_t long_tokens, double long_share);

}  // namespace deberta::train
