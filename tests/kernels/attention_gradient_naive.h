// What the outputs of an AttentionGradientCase should be: in double, and by plain sums in the precision of the case (in
// bf16 all operands of products are rounded, sums are fp32), a whole L x L matrix at a time. It shares the mask of
// dropout with src/kernels, and nothing else.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/attention_gradient_case.h"

namespace deberta::test {

// Whether sums in Number round the operands of products.
template <class Number>
bool rounds(const AttentionGradientCase& c) {
  return sizeof(Number) == 4 && c.precision == Precision::kBf16;
}

// Inputs as they are in the case, or in double so that they can be moved by little.
template <class Number>
struct GradientInputs {
  std::vector<Number> q, k, v, kr, qr, dout;

  explicit GradientInputs(const AttentionGradientCase& c) {
    const auto copy = [](const std::vector<float>& x) { return std::vector<Number>(x.begin(), x.end()); };
    q = copy(c.q);
    k = copy(c.k);
    v = copy(c.v);
    kr = copy(c.kr);
    qr = copy(c.qr);
    dout = copy(c.dout);
    if (!rounds<Number>(c)) return;
    for (auto* x : {&q, &k, &v, &kr, &qr, &dout})
      std::transform(x->begin(), x->end(), x->begin(), [](Number n) { return Number(from_bf16(to_bf16(float(n)))); });
  }
};

// The outputs' sum weighted with dO, and its gradients, in sums of Number.
template <class Number>
class PlainGradient {
 public:
  PlainGradient(const AttentionGradientCase& of, const GradientInputs<Number>& inputs)
      : c_(of),
        x_(inputs),
        rounds_(rounds<Number>(of)),
        longest_(*std::max_element(of.lengths.begin(), of.lengths.end())) {
    for (int64_t t = -longest_; t <= longest_; ++t) {
      const int64_t row = std::clamp<int64_t>(c_.bucket(t) + c_.span(), 0, 2 * c_.span() - 1);
      offsets_.push_back(static_cast<size_t>(row) * c_.width());
    }
  }

  Number loss() {
    Number total = 0;
    for_each_task([&](size_t b, size_t h) {
      for (size_t i = 0; i < queries(b); ++i) {
        if (!weigh(b, h, i)) continue;
        for (size_t j = 0; j < keys(b); ++j) total += w_[j] * keep(b, h, i, j) * dp(b, h, i, j);
      }
    });
    return total;
  }

  GradientsOf<Number> gradients() {
    GradientsOf<Number> g;
    g.q.assign(c_.queries() * c_.width(), 0);
    g.k.assign(c_.tokens() * c_.width(), 0);
    g.v = g.k;
    if (c_.has_c2p) g.kr.assign(c_.table_rows() * c_.width(), 0);
    if (c_.has_p2c) g.qr.assign(c_.table_rows() * c_.width(), 0);
    for_each_task([&](size_t b, size_t h) {
      for (size_t i = 0; i < queries(b); ++i) {
        if (weigh(b, h, i)) add_query(b, h, i, g);
      }
    });
    return g;
  }

 private:
  Number rounded(Number x) const { return rounds_ ? Number(from_bf16(to_bf16(float(x)))) : x; }
  template <class Work>
  void for_each_task(const Work& work) {
    for (size_t b = 0; b < c_.lengths.size(); ++b) {
      for (size_t h = 0; h < c_.heads; ++h) work(b, h);
    }
  }
  size_t keys(size_t b) const { return static_cast<size_t>(c_.lengths[b]); }
  size_t queries(size_t b) const {
    return static_cast<size_t>(c_.starts_of_queries()[b + 1] - c_.starts_of_queries()[b]);
  }
  size_t query_at(size_t b, size_t h, size_t i) const {
    return (static_cast<size_t>(c_.starts_of_queries()[b]) + i) * c_.width() + h * c_.head_size;
  }
  size_t key_at(size_t b, size_t h, size_t j) const {
    return (static_cast<size_t>(c_.starts[b]) + j) * c_.width() + h * c_.head_size;
  }
  size_t row_at(size_t b, size_t h, size_t i, size_t j) const {
    const int64_t distance = c_.position(b, i) - static_cast<int64_t>(j);
    return offsets_[static_cast<size_t>(distance + longest_)] + h * c_.head_size;
  }
  bool is_allowed(size_t b, size_t i, size_t j) const {
    const auto first = static_cast<size_t>(c_.starts[b]);
    const bool has_query_mask = !c_.mask.empty() && c_.query_positions.empty();
    if (has_query_mask && c_.mask[first + i] == 0) return false;
    if (!c_.mask.empty() && c_.mask[first + j] == 0) return false;
    return !c_.is_causal || static_cast<int64_t>(j) <= c_.position(b, i);
  }
  Number dot(const std::vector<Number>& a, size_t a_at, const std::vector<Number>& b, size_t b_at) const {
    Number sum = 0;
    for (size_t n = 0; n < c_.head_size; ++n) sum += a[a_at + n] * b[b_at + n];
    return sum;
  }
  void add(std::vector<Number>& a, size_t a_at, Number factor, const std::vector<Number>& b, size_t b_at) const {
    for (size_t n = 0; n < c_.head_size; ++n) a[a_at + n] += factor * b[b_at + n];
  }
  Number keep(size_t b, size_t h, size_t i, size_t j) const {
    if (c_.dropout.p == 0) return 1;
    const auto bytes =
        dropout_bytes(c_.dropout, static_cast<uint32_t>(b), static_cast<uint32_t>(c_.heads), static_cast<uint32_t>(h),
                      static_cast<uint32_t>(c_.position(b, i)), static_cast<uint32_t>(j / 16));
    const auto dropped = std::lround(256 * c_.dropout.p);
    return bytes[j % 16] < dropped ? Number(0) : Number(256) / Number(256 - dropped);
  }
  Number dp(size_t b, size_t h, size_t i, size_t j) const {
    return dot(x_.dout, query_at(b, h, i), x_.v, key_at(b, h, j));
  }
  Number score(size_t b, size_t h, size_t i, size_t j) const {
    const size_t at_q = query_at(b, h, i), at_k = key_at(b, h, j);
    Number sum = dot(x_.q, at_q, x_.k, at_k);
    if (c_.has_c2p) sum += dot(x_.q, at_q, x_.kr, row_at(b, h, i, j));
    if (c_.has_p2c) sum += dot(x_.k, at_k, x_.qr, row_at(b, h, i, j));
    return sum * Number(c_.scale);
  }

  // w_ = the softmax of a row; whether there is one.
  bool weigh(size_t b, size_t h, size_t i) {
    w_.assign(keys(b), 0);
    Number largest = -std::numeric_limits<Number>::infinity(), total = 0;
    for (size_t j = 0; j < keys(b); ++j) {
      if (is_allowed(b, i, j)) largest = std::max(largest, w_[j] = score(b, h, i, j));
    }
    if (largest == -std::numeric_limits<Number>::infinity()) return false;
    for (size_t j = 0; j < keys(b); ++j) total += w_[j] = is_allowed(b, i, j) ? std::exp(w_[j] - largest) : Number(0);
    for (Number& w : w_) w /= total;
    return true;
  }

  void add_query(size_t b, size_t h, size_t i, GradientsOf<Number>& g) {
    const size_t at_q = query_at(b, h, i);
    std::vector<Number> kept(keys(b)), product(keys(b));
    std::vector<Number> out(c_.head_size);
    Number rho = 0;
    for (size_t j = 0; j < keys(b); ++j) {
      if (!is_allowed(b, i, j)) continue;
      kept[j] = keep(b, h, i, j);
      product[j] = kept[j] * dp(b, h, i, j);
      rho += w_[j] * product[j];
      add(out, 0, w_[j] * kept[j], x_.v, key_at(b, h, j));
    }
    for (Number& x : out) x = rounded(x);
    if (rounds_) rho = dot(x_.dout, at_q, out, 0);  // from what the forward call wrote
    for (size_t j = 0; j < keys(b); ++j) {
      if (!is_allowed(b, i, j)) continue;
      const size_t at_k = key_at(b, h, j), at_row = row_at(b, h, i, j);
      const Number s = rounded(Number(c_.scale) * w_[j] * (product[j] - rho));
      add(g.v, at_k, rounded(w_[j] * kept[j]), x_.dout, at_q);
      add(g.q, at_q, s, x_.k, at_k);
      add(g.k, at_k, s, x_.q, at_q);
      if (c_.has_c2p) add(g.q, at_q, s, x_.kr, at_row);
      if (c_.has_c2p) add(g.kr, at_row, s, x_.q, at_q);
      if (c_.has_p2c) add(g.k, at_k, s, x_.qr, at_row);
      if (c_.has_p2c) add(g.qr, at_row, s, x_.k, at_k);
    }
  }

  const AttentionGradientCase& c_;
  const GradientInputs<Number>& x_;
  bool rounds_ = false;
  int64_t longest_ = 0;
  std::vector<size_t> offsets_;  // offsets of the table rows, by distance
  std::vector<Number> w_;
};

template <class Number>
GradientsOf<double> plain_gradients(const AttentionGradientCase& c) {
  const GradientInputs<Number> inputs(c);
  const GradientsOf<Number> g = PlainGradient<Number>(c, inputs).gradients();
  const auto wide = [](const std::vector<Number>& x) { return std::vector<double>(x.begin(), x.end()); };
  return {wide(g.q), wide(g.k), wide(g.v), wide(g.kr), wide(g.qr)};
}

}  // namespace deberta::test
