// Checks the stages, then finds the samples of a step by counting those of the stages before it.
#include "train/data/step_plan.h"

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>

#include "base/refuse_argument.h"

namespace deberta::train {
namespace {

constexpr size_t kFewestTokens = 3;  // [CLS], one piece, [SEP]

}  // namespace

StepPlan::StepPlan(size_t tokens_per_step, std::vector<LengthStage> stages)
    : tokens_per_step_(tokens_per_step), stages_(std::move(stages)) {
  if (stages_.empty() || stages_.front().first_step != 0)
    refuse_argument("stages", "expected the first stage to begin at step 0");
  for (size_t i = 0; i < stages_.size(); ++i) {
    const size_t length = stages_[i].max_tokens;
    if (i > 0 && stages_[i].first_step <= stages_[i - 1].first_step)
      refuse_argument("stages", fmt::format("expected a first step above {}, got {}", stages_[i - 1].first_step,
                                            stages_[i].first_step));
    if (length < kFewestTokens)
      refuse_argument("max_seq_length", fmt::format("expected at least {}, got {}", kFewestTokens, length));
    if (tokens_per_step_ < length || tokens_per_step_ % length != 0)
      refuse_argument("tokens_per_step",
                      fmt::format("expected a multiple of the sequence length {}, got {}; {} would be one", length,
                                  tokens_per_step_, (tokens_per_step_ / length + 1) * length));
  }
}

StepSamples StepPlan::at(uint64_t step) const {
  uint64_t before = 0;
  size_t stage = 0;
  for (; stage + 1 < stages_.size() && stages_[stage + 1].first_step <= step; ++stage)
    before += (stages_[stage + 1].first_step - stages_[stage].first_step) * count_of(stage);
  const uint64_t in_stage = (step - stages_[stage].first_step) * count_of(stage);
  return {before + in_stage, count_of(stage), stages_[stage].max_tokens, stage, in_stage};
}

std::vector<LengthStage> two_lengths(uint64_t steps, size_t short_tokens, size_t long_tokens, double long_share) {
  const auto long_steps = static_cast<uint64_t>(std::llround(static_cast<double>(steps) * long_share));
  if (long_steps >= steps) return {{0, long_tokens}};
  if (long_steps == 0) return {{0, short_tokens}};
  return {{0, short_tokens}, {steps - long_steps, long_tokens}};
}

}  // namespace deberta::train
