// Loops over whole vectors of kSlotElements, in fp32: every compiler makes them vector code, with the same bits.
#include "train/optim/adam.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace deberta::train {
namespace {

struct AdamBlock {
  float* weights;
  float* gradients;
  float* m;
  float* v;
};

// What one step is for one block, rounded to fp32 once.
struct Numbers {
  float inverse_divisor;
  float beta1, new_share1;
  float beta2, new_share2;
  float root_scale;  // scale of sqrt(v): the bias correction of v
  float epsilon;
  float rate;        // rate of m / root
  float decay_rate;  // rate of the weight's decay
};

// Both moments and the weight.
template <bool kAdmax, bool kHasGradients>
void update(const AdamBlock& block, size_t count, const Numbers& n) {
  float* __restrict weights = block.weights;
  const float* __restrict gradients = block.gradients;
  float* __restrict m = block.m;
  float* __restrict v = block.v;
  for (size_t begin = 0; begin < count; begin += kSlotElements) {
    for (size_t j = 0; j < kSlotElements; ++j) {
      const size_t i = begin + j;
      const float g = kHasGradients ? gradients[i] * n.inverse_divisor : 0;
      const float new_m = n.beta1 * m[i] + n.new_share1 * g;
      const float old_v = n.beta2 * v[i], size = std::abs(g);
      const float new_v = kAdmax ? (old_v > size ? old_v : size) : old_v + n.new_share2 * g * g;
      const float root = (kAdmax ? new_v : std::sqrt(new_v) * n.root_scale) + n.epsilon;
      weights[i] -= n.rate * (new_m / root) + n.decay_rate * weights[i];
      m[i] = new_m;
      v[i] = new_v;
    }
  }
}

template <bool kAdmax>
void update_block(const AdamBlock& block, size_t count, const Numbers& n, bool has_gradients) {
  (has_gradients ? update<kAdmax, true> : update<kAdmax, false>)(block, count, n);
}

void look_ahead(float* __restrict weights, float* __restrict slow, size_t count, double alpha) {
  const auto fast_share = static_cast<float>(alpha), slow_share = static_cast<float>(1 - alpha);
  for (size_t i = 0; i < count; ++i) weights[i] = slow[i] = slow_share * slow[i] + fast_share * weights[i];
}

void average(const float* __restrict weights, float* __restrict averages, size_t count, float new_share) {
  for (size_t i = 0; i < count; ++i) averages[i] += new_share * (weights[i] - averages[i]);
}

double average_decay(const AdamOptions& o, int64_t t) {
  const auto steps = static_cast<double>(t);
  return std::min(o.average_decay, (1 + steps) / (10 + steps));
}

// The factor of the rate, t = 1 at the first step.
double rectification(const AdamOptions& o, int64_t t) {
  const auto steps = static_cast<double>(t);
  const double kept1 = std::pow(o.beta1, steps), kept2 = std::pow(o.beta2, steps);
  const double limit = 2 / (1 - o.beta2) - 1;
  const double length = limit - 2 * steps * kept2 / (1 - kept2);
  if (length <= 4) return 0;
  return std::sqrt(1 - kept2) / (1 - kept1) *
         std::sqrt((length - 4) * (length - 2) * limit / ((limit - 4) * (limit - 2) * length));
}

// For a slot that decays and whose rate is 1.
Numbers numbers_of(const AdamOptions& o, const AdamStep& step, int64_t t) {
  const double rate = step.learning_rate * (o.is_rectified ? rectification(o, t) : 1);
  const auto steps = static_cast<double>(t);
  const double share1 = o.has_bias_correction ? 1 - std::pow(o.beta1, steps) : 1;
  const double share2 = o.has_bias_correction ? 1 - std::pow(o.beta2, steps) : 1;
  const auto narrow = [](double value) { return static_cast<float>(value); };
  return {.inverse_divisor = narrow(1 / step.divisor),
          .beta1 = narrow(o.beta1),
          .new_share1 = narrow(1 - o.beta1),
          .beta2 = narrow(o.beta2),
          .new_share2 = narrow(1 - o.beta2),
          .root_scale = narrow(1 / std::sqrt(share2)),
          .epsilon = narrow(o.epsilon),
          .rate = narrow(rate / share1),
          .decay_rate = narrow(rate * o.weight_decay)};
}

Numbers for_slot(Numbers numbers, const ParameterSlot& slot) {
  numbers.rate *= static_cast<float>(slot.rate);
  numbers.decay_rate *= slot.decays ? static_cast<float>(slot.rate) : 0.0F;
  return numbers;
}

void check_options(const AdamOptions& o) {
  std::vector<Problem> problems;
  const auto check = [&](bool is_right, const char* argument, double value, const char* expected) {
    if (!is_right)
      problems.push_back({.message = fmt::format("expected {}, got {}", expected, value), .argument = argument});
  };
  check(o.beta1 >= 0 && o.beta1 < 1, "adam_beta1", o.beta1, "at least 0 and below 1");
  check(o.beta2 >= 0 && o.beta2 < 1, "adam_beta2", o.beta2, "at least 0 and below 1");
  check(o.epsilon > 0 && std::isfinite(o.epsilon), "adam_epsilon", o.epsilon, "a number above 0");
  check(o.weight_decay >= 0 && std::isfinite(o.weight_decay), "weight_decay", o.weight_decay, "at least 0");
  check(o.lookahead_alpha > 0 && o.lookahead_alpha <= 1, "lookahead_alpha", o.lookahead_alpha, "above 0 and at most 1");
  check(o.average_decay >= 0 && o.average_decay < 1, "ema_decay", o.average_decay, "at least 0 and below 1");
  if (o.has_bias_correction && (o.is_admax || o.is_rectified))
    problems.push_back({.message = "expected no bias correction with admax or with_radam, which have their own",
                        .argument = "optimizer"});
  if (!problems.empty()) throw Error(ErrorCode::kUsage, std::move(problems));
}

}  // namespace

Adam::Adam(const ParameterLayout& layout, const AdamOptions& options, const FlatBuffer& weights)
    : layout_(layout), blocks_(make_blocks(layout)), options_(options) {
  check_options(options);
  state_.m = FlatBuffer(layout);
  state_.v = FlatBuffer(layout);
  for (const auto& [is_kept, buffer] :
       {std::pair{options.lookahead_k > 0, &state_.slow}, std::pair{options.average_decay > 0, &state_.averages}}) {
    if (!is_kept) continue;
    *buffer = FlatBuffer(layout);
    std::copy_n(weights.data(), layout.size, buffer->data());
  }
}

void Adam::step(const AdamStep& step, FlatBuffer& weights, FlatBuffer& gradients) {
  const int64_t t = ++state_.steps;
  const Numbers numbers = numbers_of(options_, step, t);
  const auto new_share = static_cast<float>(1 - average_decay(options_, t));
  const bool looks_ahead = options_.lookahead_k > 0 && t % options_.lookahead_k == 0;
  parallel_for(step.parallel, blocks_.size(), [&](size_t task, size_t) {
    const auto [slot, begin, count] = blocks_[task];
    const AdamBlock block{weights.data() + begin, gradients.data() + begin, state_.m.data() + begin,
                          state_.v.data() + begin};
    const bool has_gradients = step.squares.empty() || step.squares[task] != 0;
    const auto update_all = options_.is_admax ? update_block<true> : update_block<false>;
    update_all(block, count, for_slot(numbers, layout_.slots[slot]), has_gradients);
    if (looks_ahead) look_ahead(block.weights, state_.slow.data() + begin, count, options_.lookahead_alpha);
    if (options_.average_decay > 0) average(block.weights, state_.averages.data() + begin, count, new_share);
    if (step.zeroes_gradients && has_gradients) std::fill_n(block.gradients, count, 0.0F);
  });
}

}  // namespace deberta::train
