// A second opinion on Adam: each weight for itself, in double, straight from the equations; and its inputs in tests.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "support/random.h"
#include "train/optim/adam.h"

namespace deberta::train::test {

struct ScalarAdam {
  AdamOptions options;
  double weight = 0;
  bool decays = true;
  double m = 0, v = 0, slow = 0;
  int steps = 0;

  ScalarAdam(const AdamOptions& o, double first, bool has_decay)
      : options(o), weight(first), decays(has_decay), slow(first) {}

  void step(double gradient, double rate) {
    const AdamOptions& o = options;
    const double t = ++steps;
    m = o.beta1 * m + (1 - o.beta1) * gradient;
    v = o.is_admax ? std::max(o.beta2 * v, std::abs(gradient)) : o.beta2 * v + (1 - o.beta2) * gradient * gradient;
    double m_hat = m, v_hat = v;
    if (o.has_bias_correction) {
      m_hat = m / (1 - std::pow(o.beta1, t));
      v_hat = v / (1 - std::pow(o.beta2, t));
    }
    const double ratio = m_hat / ((o.is_admax ? v_hat : std::sqrt(v_hat)) + o.epsilon);
    weight -= rate * factor(t) * (ratio + (decays ? o.weight_decay * weight : 0));
    if (o.lookahead_k > 0 && steps % o.lookahead_k == 0) {
      slow = (1 - o.lookahead_alpha) * slow + o.lookahead_alpha * weight;
      weight = slow;
    }
  }

 private:
  double factor(double t) const {
    if (!options.is_rectified) return 1;
    const double b1 = std::pow(options.beta1, t), b2 = std::pow(options.beta2, t);
    const double r_inf = 2 / (1 - options.beta2) - 1, r = r_inf - 2 * t * b2 / (1 - b2);
    if (r <= 4) return 0;
    const double corrections = std::sqrt(1 - b2) / (1 - b1);
    return corrections * std::sqrt(((r - 4) * (r - 2) * r_inf) / ((r_inf - 4) * (r_inf - 2) * r));
  }
};

// Two blocks and a rest, a vector, single numbers; every second one without decay.
inline ParameterLayout make_case_layout() {
  return make_layout({{"a.weight", {3, static_cast<int64_t>(kBlockElements)}},
                      {"a.bias", {17}},
                      {"LayerNorm.weight", {1}},
                      {"b.weight", {5, 5}},
                      {"q_bias", {static_cast<int64_t>(kBlockElements) + 1}}});
}

// Normal numbers in the slots, zeros between them.
inline void fill(const ParameterLayout& layout, FlatBuffer& buffer, uint64_t seed, double deviation) {
  for (const ParameterSlot& slot : layout.slots) {
    const std::vector<float> values = deberta::test::normals(seed + slot.offset, slot.count, deviation);
    std::copy(values.begin(), values.end(), buffer.of(slot).begin());
  }
}

}  // namespace deberta::train::test
