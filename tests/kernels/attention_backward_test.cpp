// The gradient of attention: the reference against finite differences in double; every implementation against sums in
// double; and what the contract says about packs, threads, masks, chosen queries and scratch.
#include "kernels/attention_backward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/attention_gradient_case.h"
#include "kernels/attention_naive.h"
#include "kernels/reference/reference.h"
#include "support/expect_error.h"
#include "support/implementations.h"
#include "support/sanitizers.h"

namespace deberta {
namespace {

using test::all_of;
using test::AttentionGradientCase;
using test::GradientsOf;

struct Shape {
  std::vector<int32_t> lengths;
  size_t heads = 1, head_size = 64;
  int64_t buckets = 256, max_relative = 512;
  bool clamps_distance = true, has_c2p = true, has_p2c = true;
  double dropped = 0;
  bool has_holes = false, is_causal = false;
  std::vector<int32_t> positions = {};  // of the queries; empty: all

  std::string name() const {
    std::string text = "lengths";
    for (const int32_t length : lengths) text += " " + std::to_string(length);
    text += ", head size " + std::to_string(head_size) + ", buckets " + std::to_string(buckets) + " of " +
            std::to_string(max_relative) + (has_c2p ? ", c2p" : "") + (has_p2c ? ", p2c" : "");
    return text + (dropped > 0 ? ", dropout" : "") + (has_holes ? ", holes" : "") + (is_causal ? ", causal" : "") +
           (positions.empty() ? "" : ", chosen queries");
  }
};

AttentionGradientCase make_case(const Shape& s, const std::string& kernels = "auto") {
  AttentionGradientCase c;
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

// Of fourth order: wrong by the fourth power of the step.
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

std::vector<Shape> shapes() {
  std::vector<Shape> shapes;
  for (const int32_t length : {1, 2, 15, 16, 17, 31, 33, 47, 48, 49, 63, 65, 96, 97, 129, 257})
    shapes.push_back({.lengths = {length}});
  for (const int32_t length : {511, 513, 600}) shapes.push_back({.lengths = {length}, .head_size = 16});
  shapes.push_back({.lengths = {600}, .head_size = 16, .clamps_distance = false});
  shapes.push_back({.lengths = {600}, .head_size = 16, .buckets = -1, .max_relative = 512});
  for (const size_t head_size : {16u, 32u, 48u, 80u, 96u, 128u})
    shapes.push_back({.lengths = {3, 90, 49}, .heads = 2, .head_size = head_size, .buckets = 32, .max_relative = 64});
  for (const Buckets& b : kBuckets) {
    for (const int terms : {0, 1, 2, 3}) {
      Shape s{.lengths = {70, 5}, .heads = 2, .head_size = 16, .buckets = b.buckets, .max_relative = b.max_relative};
      s.has_c2p = (terms & 1) != 0;
      s.has_p2c = (terms & 2) != 0;
      shapes.push_back(s);
      s.lengths = {130};
      s.dropped = 0.1;
      s.has_holes = terms != 3;
      shapes.push_back(s);
      s.is_causal = true;
      shapes.push_back(s);
      s.is_causal = terms == 3;
      s.positions = {0, 7, 16, 17, 18, 19, 20, 31, 33, 64, 65, 100, 129};
      shapes.push_back(s);
    }
  }
  shapes.push_back({.lengths = {300}, .head_size = 16, .is_causal = true});
  shapes.push_back({.lengths = {600}, .head_size = 16, .dropped = 0.3, .is_causal = true});
  shapes.push_back({.lengths = {600}, .head_size = 16, .positions = {0, 1, 2, 298, 299, 299, 299, 300, 301, 599}});
  return shapes;
}

// Elements of the tables' rows that all far distances share, and the others; of any other gradient all.
std::vector<double> part(const std::vector<double>& x, const AttentionGradientCase& c, size_t gradient, bool is_far) {
  if (gradient < 3) return is_far ? std::vector<double>{} : x;
  std::vector<double> kept;
  for (size_t at = 0; at < x.size(); ++at) {
    const auto row = static_cast<int32_t>(at / c.width());
    const bool is_end = row == c.lut->row(c.lut->t_lo()) || row == c.lut->row(c.lut->t_hi());
    if (is_end == is_far) kept.push_back(x[at]);
  }
  return kept;
}

double relative_l2(const std::vector<double>& got, const std::vector<double>& expected) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += (got[i] - expected[i]) * (got[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return size == 0 ? std::sqrt(difference) : std::sqrt(difference / size);
}

void expect_small_errors(const Shape& shape) {
  AttentionGradientCase c = make_case(shape);
  const GradientsOf<double> exact = test::plain_gradients<double>(c), naive = test::plain_gradients<float>(c);
  for (const KernelLevel level : test::levels_of(Operation::kAttentionBackward)) {
    c.kernels = to_string(level);
    c.run_backward();
    const GradientsOf<double> got = c.dense_results();
    for (size_t n = 0; n < 5; ++n) {
      for (const bool is_far : {false, true}) {
        const auto expected = part(*all_of(exact)[n], c, n, is_far), ours = part(*all_of(got)[n], c, n, is_far);
        const double allowed = 2 * test::largest_difference(part(*all_of(naive)[n], c, n, is_far), expected);
        const std::string where = std::string(to_string(level)) + ", " + test::kGradientNames[n] +
                                  (is_far ? " of the last rows: " : ": ") + shape.name();
        EXPECT_LE(test::largest_difference(ours, expected), allowed + 1e-6) << where;
        if (c.tokens() > 1) {
          EXPECT_LT(relative_l2(ours, expected), 1e-5) << where;
        }
      }
    }
    EXPECT_TRUE(c.has_gradient_guards()) << to_string(level) << ", " << shape.name();
  }
}

TEST(AttentionBackwardAccuracy, IsAtMostTwiceAsFarFromExactAsPlainSums) {
  for (const Shape& shape : shapes()) expect_small_errors(shape);
}

// Sums of a million terms.
TEST(AttentionBackwardAccuracy, TheRowsOfAllFarDistancesAreSummedAsWell) {
  expect_small_errors({.lengths = {test::kSanitized ? 700 : 2048}, .head_size = 16});
  expect_small_errors({.lengths = {test::kSanitized ? 600 : 1100}, .head_size = 16, .clamps_distance = false});
}

class EveryGradient : public testing::TestWithParam<KernelLevel> {
 protected:
  AttentionGradientCase make(const Shape& shape) const { return make_case(shape, std::string(to_string(GetParam()))); }
};
constexpr auto kNameOfLevel = [](const auto& of) { return std::string(to_string(of.param)); };
INSTANTIATE_TEST_SUITE_P(Attention, EveryGradient, testing::ValuesIn(test::levels_of(Operation::kAttentionBackward)),
                         kNameOfLevel);

const Shape kPack = {.lengths = {47, 1, 131, 0, 64},
                     .heads = 2,
                     .head_size = 32,
                     .buckets = 32,
                     .max_relative = 64,
                     .dropped = 0.1,
                     .has_holes = true};

TEST_P(EveryGradient, HasTheSameBitsWithAnyThreads) {
  AttentionGradientCase c = make(kPack);
  c.run_backward();
  const test::Gradients one = c.results;
  for (const unsigned threads : {2u, 3u, 16u}) {
    ThreadPool pool(threads);
    AttentionBackwardParams p = c.backward_params();
    p.parallel = pool.parallel();
    c.run_backward(p, select_kernels(c.kernels));
    for (size_t n = 0; n < 5; ++n)
      EXPECT_EQ(*all_of(c.results)[n], *all_of(one)[n]) << test::kGradientNames[n] << ", " << threads << " threads";
  }
}

std::vector<float> rows_of(const std::vector<float>& x, const AttentionGradientCase& c, size_t sequence,
                           size_t guards) {
  const auto at = [&](size_t b) {
    return x.begin() + static_cast<std::ptrdiff_t>(guards + static_cast<size_t>(c.starts[b]) * c.width());
  };
  return {at(sequence), at(sequence + 1)};
}

TEST_P(EveryGradient, OfASequenceHasTheSameBitsAloneAndInAnyPack) {
  AttentionGradientCase pack = make(kPack);
  pack.run_backward();
  for (size_t b = 0; b < pack.lengths.size(); ++b) {
    Shape alone = kPack;
    alone.lengths = {pack.lengths[b]};
    AttentionGradientCase solo = make(alone);
    solo.dropout.sequence_offset += static_cast<uint32_t>(b);
    solo.q = rows_of(pack.q, pack, b, 0);
    solo.k = rows_of(pack.k, pack, b, 0);
    solo.v = rows_of(pack.v, pack, b, 0);
    solo.dout = rows_of(pack.dout, pack, b, 0);
    solo.mask.assign(pack.mask.begin() + pack.starts[b], pack.mask.begin() + pack.starts[b + 1]);
    solo.kr = pack.kr;
    solo.qr = pack.qr;
    solo.run_backward();
    EXPECT_EQ(rows_of(solo.results.q, solo, 0, 16), rows_of(pack.results.q, pack, b, 16)) << b;
    EXPECT_EQ(rows_of(solo.results.k, solo, 0, 16), rows_of(pack.results.k, pack, b, 16)) << b;
    EXPECT_EQ(rows_of(solo.results.v, solo, 0, 16), rows_of(pack.results.v, pack, b, 16)) << b;
  }
}

TEST_P(EveryGradient, MaskedTokensMayHoldAnythingAndGetZeros) {
  for (const bool is_causal : {false, true}) {
    AttentionGradientCase c = make({.lengths = {150}, .heads = 2, .head_size = 32, .has_holes = true});
    c.is_causal = is_causal;
    for (size_t t = 0; t < 60; ++t) c.mask[t] = 0;
    const GradientsOf<double> expected = test::plain_gradients<double>(c);
    for (size_t t = 0; t < c.tokens(); ++t) {
      if (c.mask[t] != 0) continue;
      for (auto* x : {&c.q, &c.k, &c.v, &c.dout})
        std::fill_n(x->begin() + static_cast<std::ptrdiff_t>(t * c.width()), c.width(), NAN);
    }
    c.run_backward();
    const GradientsOf<double> got = c.dense_results();
    for (size_t n = 0; n < 5; ++n)
      EXPECT_LE(test::largest_difference(*all_of(got)[n], *all_of(expected)[n]), 1e-4) << test::kGradientNames[n];
    for (const auto* x : {&got.q, &got.k, &got.v}) {
      for (size_t at = 0; at < x->size(); ++at) EXPECT_TRUE(c.mask[at / c.width()] != 0 || (*x)[at] == 0) << at;
    }
  }
}

TEST_P(EveryGradient, IsZeroWhereNothingIsAllowed) {
  AttentionGradientCase c = make({.lengths = {20, 9}, .heads = 2, .head_size = 32});
  c.mask.assign(29, 1);
  std::fill_n(c.mask.begin(), 20, uint8_t{0});
  c.run_backward();
  const GradientsOf<double> got = c.dense_results();
  for (const auto* x : {&got.q, &got.k, &got.v}) {
    for (size_t at = 0; at < x->size(); ++at) EXPECT_EQ((*x)[at] == 0, at < 20 * c.width()) << at;
  }
}

TEST_P(EveryGradient, OfChosenQueriesIsThatOfAllWithoutTheOthers) {
  const std::vector<int32_t> positions = {0, 7, 16, 17, 18, 19, 20, 31, 33, 64, 130, 131, 199};
  const Shape shape{.lengths = {200}, .heads = 2, .head_size = 32, .dropped = 0.1};
  AttentionGradientCase all = make(shape), some = make(shape);
  std::vector<float> dout(all.dout.size());
  for (const int32_t at : positions) {
    const auto first = static_cast<std::ptrdiff_t>(static_cast<size_t>(at) * all.width());
    std::copy_n(all.dout.begin() + first, all.width(), dout.begin() + first);
  }
  all.dout = dout;
  all.run_backward();
  some.choose(positions);
  some.run_backward();
  const GradientsOf<double> of_all = all.dense_results(), of_some = some.dense_results();
  for (size_t n = 1; n < 5; ++n)
    EXPECT_LE(test::largest_difference(*all_of(of_some)[n], *all_of(of_all)[n]), 1e-5) << test::kGradientNames[n];
  for (size_t i = 0; i < positions.size(); ++i) {
    for (size_t at = 0; at < all.width(); ++at) {
      const double whole = of_all.q[static_cast<size_t>(positions[i]) * all.width() + at];
      EXPECT_NEAR(of_some.q[i * all.width() + at], whole, 1e-5) << i;
    }
  }
}

TEST_P(EveryGradient, ANumberThatIsNotFiniteIsNotHidden) {
  AttentionGradientCase c = make({.lengths = {50}, .head_size = 32});
  c.q[5 * c.width()] = NAN;
  c.run_backward();
  const GradientsOf<double> got = c.dense_results();
  EXPECT_TRUE(std::isnan(got.q[5 * c.width() + 3]));
  EXPECT_TRUE(std::isfinite(got.q[4 * c.width() + 3]));
  for (const auto* x : {&got.k, &got.v}) EXPECT_TRUE(std::isnan((*x)[9]));
}

// Two heads in the memory of four: every other one of each array is not part of the call.
TEST_P(EveryGradient, ReadsAndWritesOnlyItsRowsOfStridedData) {
  const Shape shape{.lengths = {70, 12}, .heads = 2, .head_size = 32, .buckets = 8, .max_relative = 16};
  AttentionGradientCase dense = make(shape);
  dense.run_backward();
  const test::Gradients expected = dense.results;
  AttentionBackwardParams p = dense.backward_params();
  std::vector<std::vector<float>> inputs;
  for (auto* rows : {&p.q, &p.k, &p.v, &p.kr, &p.qr, &p.out, &p.dout}) {
    const size_t count = rows == &p.kr || rows == &p.qr ? dense.table_rows() : dense.tokens();
    std::vector<float> spread(count * 128 + 1, NAN);
    for (size_t i = 0; i < count * 64; ++i) spread[1 + i / 32 * 64 + i % 32] = rows->data[i];
    inputs.push_back(std::move(spread));
    *rows = {inputs.back().data() + 1, 128, 64};
  }
  std::vector<std::vector<float>> outputs;
  for (auto* rows : {&p.dq, &p.dk, &p.dv, &p.dkr, &p.dqr}) {
    const size_t count = rows == &p.dkr || rows == &p.dqr ? dense.table_rows() : dense.tokens();
    outputs.emplace_back(count * 128 + 1, test::kGuard);
    *rows = {outputs.back().data() + 1, 128, 64};
  }
  dense.run_backward(p, select_kernels(dense.kernels));
  for (size_t n = 0; n < 5; ++n) {
    for (size_t i = 0; i < outputs[n].size() - 1; ++i) {
      const float wanted = i % 64 < 32 ? (*all_of(expected)[n])[16 + i / 64 * 32 + i % 64] : test::kGuard;
      EXPECT_EQ(outputs[n][1 + i], wanted) << test::kGradientNames[n] << " " << i;
    }
  }
}

uint64_t calls_of(KernelLevel level) {
  for (const KernelCount& n : kernel_counts()) {
    if (n.operation == Operation::kAttentionBackward && n.precision == Precision::kFp32 && n.level == level)
      return n.calls;
  }
  return 0;
}

TEST_P(EveryGradient, RunsWhenForcedAndLeavesOddHeadSizesToTheReference) {
  AttentionGradientCase c = make({.lengths = {20}, .head_size = 32});
  const uint64_t before = calls_of(GetParam());
  c.run_backward();
  EXPECT_EQ(calls_of(GetParam()), before + 1);
  AttentionGradientCase odd = make({.lengths = {20}, .head_size = 24});
  const uint64_t reference = calls_of(KernelLevel::kReference);
  odd.run_backward();
  EXPECT_EQ(calls_of(KernelLevel::kReference), reference + 1);
}

TEST_P(EveryGradient, ScratchIsLinearInTheLength) {
  const auto bytes = [&](int32_t length) {
    static const RelLut lut({256, 512, true, 8192});
    static const float number = 0;
    const int32_t starts[] = {0, length};
    AttentionBackwardParams p{};
    p.starts = starts;
    p.sequences = 1;
    p.heads = 12;
    p.head_size = 64;
    p.lut = &lut;
    p.kr = p.qr = {&number, 0, 0};
    p.relative_rows = 512;
    return attention_backward_scratch_bytes(select_kernels(to_string(GetParam())), p);
  };
  EXPECT_LT(bytes(8192), 8.1 * double(bytes(1024)));
  EXPECT_LT(bytes(8192), size_t{64} << 20);
}

TEST_P(EveryGradient, CheckReportsTheDifferenceFromTheReference) {
  AttentionGradientCase c = make({.lengths = {40, 7}, .heads = 2, .head_size = 32});
  KernelSet set = select_kernels(c.kernels);
  const AttentionBackwardParams p = c.backward_params();
  set.check = std::make_shared<KernelCheck>();
  c.run_backward(p, set);
  const KernelCheck::Difference worst = set.check->worst(Operation::kAttentionBackward);
  EXPECT_EQ(worst.calls, 1u);
  EXPECT_LT(worst.worst, 1e-4);
  EXPECT_NE(worst.where.find("[T 47, H 2, K 32] d"), std::string::npos) << worst.where;
}

TEST(AttentionBackward, RefusesWhatDoesNotFitTogether) {
  AttentionGradientCase c = make_case({.lengths = {300}, .head_size = 32});
  const KernelSet set = select_kernels("auto");
  const RelLut short_lut({256, 512, true, 100});
  AttentionBackwardParams p = c.backward_params();
  p.lut = &short_lut;
  EXPECT_ERROR(c.run_backward(p, set), kInternal, "a sequence longer than the table of rows");
  p = c.backward_params();
  p.dkr = {};
  EXPECT_ERROR(c.run_backward(p, set), kInternal, "a relative term without its gradient");
  p = c.backward_params();
  p.relative_rows = 16;
  EXPECT_ERROR(c.run_backward(p, set), kInternal, "a relative term without row numbers");
  p = c.backward_params();
  p.dropout.p = 1;
  EXPECT_ERROR(c.run_backward(p, set), kInternal, "dropout outside [0, 1)");
}

}  // namespace
}  // namespace deberta
