// The reference of attention's gradient against finite differences in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/attention_gradient_naive.h"
#include "kernels/reference/reference.h"

namespace deberta::attention_backward_reference_test {
namespace {

using test::all_of;
using test::AttentionGradientCase;
using test::GradientsOf;
using test::make_case;
using Shape = test::GradientShape;

// The reference's gradients of inputs in double.
GradientsOf<double> reference_gradients(AttentionGradientCase& c, const test::GradientInputs<double>& x) {
  AttentionBackwardOf<double> p{};
  const auto rows = [&](const std::vector<double>& numbers) {
    return HeadRows<const double>{numbers.data(), c.width(), c.head_size};
  };
  GradientsOf<double> g;
  const auto room = [&](std::vector<double>& numbers, size_t count) {
    numbers.assign(count * c.width(), 0);
    return HeadRows<double>{numbers.data(), c.width(), c.head_size};
  };
  p.q = rows(x.q);
  p.k = rows(x.k);
  p.v = rows(x.v);
  p.dout = rows(x.dout);
  p.sequences = c.lengths.size();
  p.heads = c.heads;
  p.head_size = c.head_size;
  p.starts = c.starts.data();
  const AttentionParams forward = c.forward_params();
  p.query_starts = forward.query_starts;
  p.query_positions = forward.query_positions;
  p.scale = c.scale;
  if (c.has_c2p) p.kr = rows(x.kr);
  if (c.has_p2c) p.qr = rows(x.qr);
  p.relative_rows = c.table_rows();
  p.lut = &*c.lut;
  p.key_mask_T = forward.key_mask_T;
  p.query_mask_T = forward.query_mask_T;
  p.is_causal = c.is_causal;
  p.dropout = c.dropout;
  p.dq = room(g.q, c.queries());
  p.dk = room(g.k, c.tokens());
  p.dv = room(g.v, c.tokens());
  p.dkr = room(g.kr, c.has_c2p ? c.table_rows() : 0);
  p.dqr = room(g.qr, c.has_p2c ? c.table_rows() : 0);
  std::vector<double> scratch(reference_attention_backward_scratch_bytes(p) / sizeof(double));
  for (size_t head = 0; head < c.heads; ++head) reference_attention_backward(p, head, scratch.data());
  return g;
}

double largest(const std::vector<double>& x) {
  double most = 0;
  for (const double number : x) most = std::max(most, std::abs(number));
  return most;
}

// Differences of fourth order: the error is the fourth power of the step.
void expect_finite_differences(const Shape& shape, size_t samples) {
  AttentionGradientCase c = make_case(shape, "reference");
  test::GradientInputs<double> x(c);
  const GradientsOf<double> gradients = reference_gradients(c, x);
  std::vector<double>* const inputs[] = {&x.q, &x.k, &x.v, &x.kr, &x.qr};
  constexpr double kStep = 1e-3;
  for (size_t n = 0; n < std::size(inputs); ++n) {
    const std::vector<double>& gradient = *all_of(gradients)[n];
    if (gradient.empty()) continue;
    const size_t step = std::max<size_t>(1, gradient.size() / samples);
    for (size_t at = gradient.size() - 1; at < gradient.size(); at -= step) {
      const double kept = (*inputs[n])[at];
      const auto loss = [&](double move) {
        (*inputs[n])[at] = kept + move;
        return test::PlainGradient<double>(c, x).loss();
      };
      const double expected = (8 * (loss(kStep) - loss(-kStep)) - (loss(2 * kStep) - loss(-2 * kStep))) / (12 * kStep);
      (*inputs[n])[at] = kept;
      EXPECT_NEAR(gradient[at], expected, 5e-8 * std::max(largest(gradient), 1e-3))
          << test::kGradientNames[n] << " " << at << ": " << shape.name();
    }
  }
}

struct Buckets {
  int64_t buckets, max_relative;
};
constexpr Buckets kBuckets[] = {{4, 9}, {8, 16}, {256, 512}, {-1, 6}};

TEST(AttentionBackwardReference, AgreesWithFiniteDifferences) {
  for (const Buckets& b : kBuckets) {
    for (const int terms : {0, 1, 2, 3}) {
      for (const double dropped : {0.0, 0.1}) {
        Shape s{.lengths = {13, 4}, .heads = 2, .head_size = 3, .buckets = b.buckets, .max_relative = b.max_relative};
        s.has_c2p = (terms & 1) != 0;
        s.has_p2c = (terms & 2) != 0;
        s.dropped = dropped;
        expect_finite_differences(s, 40);
        s.has_holes = true;
        expect_finite_differences(s, 15);
        s.is_causal = true;
        expect_finite_differences(s, 15);
        s.lengths = {13};
        s.is_causal = false;
        s.positions = {0, 3, 4, 12};
        expect_finite_differences(s, 15);
      }
    }
  }
}

TEST(AttentionBackwardReference, AgreesWithFiniteDifferencesAtTheFarthestDistances) {
  expect_finite_differences({.lengths = {540}, .head_size = 1, .dropped = 0.1}, 3);  // rows 1 and 511 among others
}

}  // namespace
}  // namespace deberta::attention_backward_reference_test
