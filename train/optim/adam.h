// Adam over flat buffers, with the switches of the original DeBERTa code (XAdam) and with bias correction (AdamW):
//   g = gradient / divisor
//   m = b1 m + (1 - b1) g
//   v = b2 v + (1 - b2) g^2
//   w = w - rate (m / (sqrt(v) + eps) + weight_decay w)
// A step is one pass over the buffers; its bits do not depend on the number of threads.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "base/parallel.h"
#include "train/optim/flat_buffers.h"

namespace deberta::train {

struct AdamOptions {
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-6;
  double weight_decay = 0.01;  // applies to the slots that decay, those without a gradient too
  // AdamW: m / (1 - b1^t) and v / (1 - b2^t) in the update, t = 1 at the first step. XAdam has none.
  bool has_bias_correction = false;
  bool is_admax = false;      // v = max(b2 v, |g|), update m / (v + eps)
  bool is_rectified = false;  // RAdam: rate times its factor, decay included; 0 in the first steps
  int64_t lookahead_k = 0;    // every k steps slow = (1 - a) slow + a w and w = slow; 0: never
  double lookahead_alpha = 0.5;
  // Averages of the weights: after step t, a = d a + (1 - d) w with d = min(average_decay, (1 + t) / (10 + t)), so that
  // they do not lag behind the first steps; 0: none are kept.
  double average_decay = 0;
};

struct AdamStep {
  double learning_rate = 0;
  double divisor = 1;  // what gradients are divided by (gradient_norm.h)
  bool zeroes_gradients = true;
  // Sums of the gradients' squares (squares_by_block): blocks where they are 0, as in most of a table of words, are not
  // read. Empty: all are read. No bit depends on it.
  std::span<const double> squares = {};
  Parallel parallel = serial();
};

class Adam {
 public:
  // `weights` are copied as the first slow ones and the first averages; otherwise only their layout counts. Throws
  // kUsage (options out of their range, bias correction with admax or rectified), kOutOfMemory.
  Adam(const ParameterLayout& layout, const AdamOptions& options, const FlatBuffer& weights);

  // Buffers of the layout. Gradients that are not finite must have been found before (global_norm).
  void step(const AdamStep& step, FlatBuffer& weights, FlatBuffer& gradients);

  // What a run that goes on needs besides the weights.
  struct State {
    FlatBuffer m;
    FlatBuffer v;
    FlatBuffer slow;      // empty without lookahead
    FlatBuffer averages;  // empty without average_decay
    int64_t steps = 0;    // done
  };
  State& state() { return state_; }
  const State& state() const { return state_; }
  const ParameterLayout& layout() const { return layout_; }

 private:
  ParameterLayout layout_;
  std::vector<FlatBlock> blocks_;
  AdamOptions options_;
  State state_;
};

}  // namespace deberta::train
