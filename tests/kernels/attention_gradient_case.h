// One problem of attention's gradient: an AttentionCase, its forward call, random gradients of the outputs, guards
// around the results and NaN in scratch.
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
    if (precision != Precision::kBf16) return;
    for (auto* x : {&q, &k, &v, &kr, &qr})
      std::transform(x->begin(), x->end(), x->begin(), [](float number) { return from_bf16(to_bf16(number)); });
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
    p.precision = precision;
    if (precision == Precision::kBf16) {
      p.q = p.k = p.v = {};
      const auto halves = [&](const std::vector<Bf16>& x) {
        return HeadRows<const Bf16>{x.data(), width(), head_size};
      };
      p.q_bf16 = halves(q_bf16);
      p.k_bf16 = halves(k_bf16);
      p.v_bf16 = halves(v_bf16);
    }
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

// What a case is made of.
struct GradientShape {
  std::vector<int32_t> lengths;
  size_t heads = 1, head_size = 64;
  int64_t buckets = 256, max_relative = 512;
  bool clamps_distance = true, has_c2p = true, has_p2c = true;
  double dropped = 0;
  bool has_holes = false, is_causal = false;
  std::vector<int32_t> positions = {};  // positions of the queries; empty: all
  Precision precision = Precision::kFp32;

  std::string name() const {
    std::string text = "lengths";
    for (const int32_t length : lengths) text += " " + std::to_string(length);
    text += ", head size " + std::to_string(head_size) + ", buckets " + std::to_string(buckets) + " of " +
            std::to_string(max_relative) + (has_c2p ? ", c2p" : "") + (has_p2c ? ", p2c" : "");
    return text + (dropped > 0 ? ", dropout" : "") + (has_holes ? ", holes" : "") + (is_causal ? ", causal" : "") +
           (positions.empty() ? "" : ", chosen queries");
  }
};

inline AttentionGradientCase make_case(const GradientShape& s, const std::string& kernels = "auto") {
  AttentionGradientCase c;
  c.precision = s.precision;
  c.kernels = kernels;
  c.lengths = s.lengths;
  c.heads = s.heads;
  c.head_size = s.head_size;
  c.buckets = s.buckets;
  c.max_relative = s.max_relative;
  c.clamps_distance = s.clamps_distance;
  c.has_c2p = s.has_c2p;
  c.has_p2c = s.has_p2c;
  c.scale = 1 / std::sqrt(3.0 * double(s.head_size));
  c.is_causal = s.is_causal;
  c.dropout = {.p = s.dropped, .seed = 99, .step = 3, .layer = 1, .sequence_offset = 5};
  c.fill();
  for (size_t t = 0; s.has_holes && t < c.tokens(); ++t) c.mask.push_back(t % 5 == 2 ? 0 : 1);
  if (!s.positions.empty()) c.choose(s.positions);
  return c;
}

}  // namespace deberta::test
