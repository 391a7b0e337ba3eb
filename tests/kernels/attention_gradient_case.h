// One problem of attention's gradient: an AttentionCase, its forward call, random gradients of the outputs, guards
// around the results and NaN in scratch; and a second version of the gradient in double or in plain fp32 sums, a whole
// L x L matrix at a time. It shares the mask of dropout with src/kernels, and nothing else.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "kernels/attention_backward.h"
#include "kernels/attention_case.h"

namespace deberta::test {

// dq, dk, dv, dkr, dqr, dense.
template <class Number>
struct GradientsOf {
  std::vector<Number> q, k, v, kr, qr;
};
using Gradients = GradientsOf<float>;

inline constexpr const char* kGradientNames[] = {"dq", "dk", "dv", "dkr", "dqr"};
template <class Number>
std::vector<const std::vector<Number>*> all_of(const GradientsOf<Number>& g) {
  return {&g.q, &g.k, &g.v, &g.kr, &g.qr};
}

struct AttentionGradientCase : AttentionCase {
  // Empty: all queries. Else they are the first rows of q; [B + 1], and positions within the sequences.
  std::vector<int32_t> query_starts, query_positions;
  std::vector<float> dout;
  Gradients results;  // each with 16 guards at both ends

  void fill() {
    AttentionCase::fill();
    dout = normals(16 + 100 * seed, tokens() * width());
  }

  const int32_t* starts_of_queries() const { return query_starts.empty() ? starts.data() : query_starts.data(); }
  size_t queries() const { return static_cast<size_t>(starts_of_queries()[lengths.size()]); }
  int64_t position(size_t sequence, size_t i) const {
    if (query_positions.empty()) return static_cast<int64_t>(i);
    return query_positions[static_cast<size_t>(starts_of_queries()[sequence]) + i];
  }
  size_t table_rows() const { return static_cast<size_t>(2 * span()); }

  // Queries at these positions of the only sequence; q and dO are their rows.
  void choose(const std::vector<int32_t>& positions) {
    query_starts = {0, static_cast<int32_t>(positions.size())};
    query_positions = positions;
    for (auto* x : {&q, &dout}) {
      std::vector<float> rows;
      for (const int32_t at : positions) {
        const auto first = x->begin() + static_cast<std::ptrdiff_t>(static_cast<size_t>(at) * width());
        rows.insert(rows.end(), first, first + static_cast<std::ptrdiff_t>(width()));
      }
      *x = rows;
    }
  }

  AttentionParams forward_params() {
    AttentionParams p = params();
    if (!query_starts.empty()) p.query_starts = query_starts.data();
    if (!query_positions.empty()) {
      p.query_positions = query_positions.data();
      p.query_mask_T = nullptr;
    }
    return p;
  }

  // Runs the forward call; results are guards.
  AttentionBackwardParams backward_params() {
    const AttentionParams forward = forward_params();
    run(forward);
    AttentionBackwardParams p{};
    const auto rows = [&](const std::vector<float>& x) { return HeadRows<const float>{x.data(), width(), head_size}; };
    p.q = rows(q);
    p.k = rows(k);
    p.v = rows(v);
    p.out = {out.data() + 16, width(), head_size};
    p.dout = rows(dout);
    p.lse_HT = lse.data();
    p.sequences = lengths.size();
    p.heads = heads;
    p.head_size = head_size;
    p.starts = starts.data();
    p.query_starts = forward.query_starts;
    p.query_positions = forward.query_positions;
    p.scale = scale;
    if (has_c2p) p.kr = rows(kr);
    if (has_p2c) p.qr = rows(qr);
    p.relative_rows = table_rows();
    p.lut = &*lut;
    p.key_mask_T = forward.key_mask_T;
    p.query_mask_T = forward.query_mask_T;
    p.is_causal = is_causal;
    p.dropout = dropout;
    const auto room = [&](std::vector<float>& x, size_t count) {
      x.assign(count * width() + 32, kGuard);
      return HeadRows<float>{x.data() + 16, width(), head_size};
    };
    p.dq = room(results.q, queries());
    p.dk = room(results.k, tokens());
    p.dv = room(results.v, tokens());
    p.dkr = room(results.kr, has_c2p ? table_rows() : 0);
    p.dqr = room(results.qr, has_p2c ? table_rows() : 0);
    return p;
  }

  void run_backward(AttentionBackwardParams p, const KernelSet& set) {
    const size_t size = attention_backward_scratch_bytes(set, p);
    Arena arena;
    arena.reserve(size + Arena::kAlignment);
    p.scratch = arena.take<std::byte>(size);
    std::memset(p.scratch, 0xFF, size);  // all bits set is a NaN
    attention_backward(set, p);
  }
  void run_backward() { run_backward(backward_params(), select_kernels(kernels)); }

  bool has_gradient_guards() const {
    const auto is_guard = [](float x) { return x == kGuard; };
    const auto all = all_of(results);
    return std::all_of(all.begin(), all.end(), [&](const std::vector<float>* x) {
      return std::all_of(x->begin(), x->begin() + 16, is_guard) && std::all_of(x->end() - 16, x->end(), is_guard);
    });
  }

  // Without their guards.
  GradientsOf<double> dense_results() const {
    const auto dense = [](const std::vector<float>& x) { return std::vector<double>(x.begin() + 16, x.end() - 16); };
    return {dense(results.q), dense(results.k), dense(results.v), dense(results.kr), dense(results.qr)};
  }
};

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
  }
};

// The outputs' sum weighted with dO, and its gradients, in sums of Number.
template <class Number>
class PlainGradient {
 public:
  PlainGradient(const AttentionGradientCase& of, const GradientInputs<Number>& inputs)
      : c_(of), x_(inputs), longest_(*std::max_element(of.lengths.begin(), of.lengths.end())) {
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
    Number rho = 0;
    for (size_t j = 0; j < keys(b); ++j) {
      if (!is_allowed(b, i, j)) continue;
      kept[j] = keep(b, h, i, j);
      product[j] = kept[j] * dp(b, h, i, j);
      rho += w_[j] * product[j];
    }
    for (size_t j = 0; j < keys(b); ++j) {
      if (!is_allowed(b, i, j)) continue;
      const size_t at_k = key_at(b, h, j), at_row = row_at(b, h, i, j);
      const Number s = Number(c_.scale) * w_[j] * (product[j] - rho);
      add(g.v, at_k, w_[j] * kept[j], x_.dout, at_q);
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
  int64_t longest_ = 0;
  std::vector<size_t> offsets_;  // of the table rows, by distance
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
