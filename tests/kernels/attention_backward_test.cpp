// The gradient of attention: what the contract says about packs, threads, masks, chosen queries and scratch.
#include "kernels/attention_backward.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/attention_gradient_naive.h"
#include "kernels/attention_naive.h"
#include "support/expect_error.h"
#include "support/implementations.h"

namespace deberta::attention_backward_test {
namespace {

using test::all_of;
using test::AttentionGradientCase;
using test::GradientsOf;
using test::make_case;
using Shape = test::GradientShape;

class EveryGradient : public testing::TestWithParam<test::Implementation> {
 protected:
  AttentionGradientCase make(Shape shape) const {
    shape.precision = GetParam().precision;
    return make_case(shape, std::string(to_string(GetParam().level)));
  }
  bool is_bf16() const { return GetParam().precision == Precision::kBf16; }
};
INSTANTIATE_TEST_SUITE_P(Attention, EveryGradient,
                         testing::ValuesIn(test::implementations(Operation::kAttentionBackward,
                                                                 {Precision::kFp32, Precision::kBf16})),
                         test::kNameOfImplementation);

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
  const test::Gradients single = c.results;
  for (const unsigned threads : {2u, 3u, 16u}) {
    ThreadPool pool(threads);
    AttentionBackwardParams p = c.backward_params();
    p.parallel = pool.parallel();
    c.run_backward(p, select_kernels(c.kernels));
    for (size_t n = 0; n < 5; ++n)
      EXPECT_EQ(*all_of(c.results)[n], *all_of(single)[n]) << test::kGradientNames[n] << ", " << threads << " threads";
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
      EXPECT_LE(test::largest_difference(*all_of(got)[n], *all_of(expected)[n]), is_bf16() ? 1e-1 : 1e-4)
          << test::kGradientNames[n];
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

TEST_P(EveryGradient, OfACausalCallReachesNoLaterKey) {
  constexpr size_t kEarly = 101;
  AttentionGradientCase c = make({.lengths = {160}, .heads = 2, .head_size = 32, .dropped = 0.1, .is_causal = true});
  std::fill(c.dout.begin() + static_cast<std::ptrdiff_t>(kEarly * c.width()), c.dout.end(), 0.0f);
  c.run_backward();
  const GradientsOf<double> got = c.dense_results(), expected = test::plain_gradients<double>(c);
  for (const auto* x : {&got.q, &got.k, &got.v}) {
    for (size_t at = 0; at < x->size(); ++at) EXPECT_TRUE(at < kEarly * c.width() || (*x)[at] == 0) << at;
  }
  for (size_t n = 0; n < 5; ++n)
    EXPECT_LE(test::largest_difference(*all_of(got)[n], *all_of(expected)[n]), is_bf16() ? 1e-1 : 1e-4)
        << test::kGradientNames[n];
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

// Two heads of 32 in the memory of four.
template <class Number>
HeadRows<const Number> spread(const HeadRows<const Number>& rows, size_t count, Number between,
                              std::vector<std::vector<Number>>& memory) {
  std::vector<Number> numbers(count * 128 + 1, between);
  for (size_t i = 0; i < count * 64; ++i) numbers[1 + i / 32 * 64 + i % 32] = rows.data[i];
  memory.push_back(std::move(numbers));
  return {memory.back().data() + 1, 128, 64};
}

// Two heads in the memory of four: every other one of each array is not part of the call.
TEST_P(EveryGradient, ReadsAndWritesOnlyItsRowsOfStridedData) {
  const Shape shape{.lengths = {70, 12}, .heads = 2, .head_size = 32, .buckets = 8, .max_relative = 16};
  AttentionGradientCase dense = make(shape);
  dense.run_backward();
  const test::Gradients expected = dense.results;
  AttentionBackwardParams p = dense.backward_params();
  std::vector<std::vector<float>> inputs;
  std::vector<std::vector<Bf16>> bf16_inputs;
  for (auto* rows : {&p.q, &p.k, &p.v, &p.kr, &p.qr, &p.out, &p.dout}) {
    const size_t count = rows == &p.kr || rows == &p.qr ? dense.table_rows() : dense.tokens();
    if (rows->data != nullptr) *rows = spread(*rows, count, float{NAN}, inputs);
  }
  for (auto* rows : {&p.q_bf16, &p.k_bf16, &p.v_bf16})
    if (rows->data != nullptr) *rows = spread(*rows, dense.tokens(), to_bf16(NAN), bf16_inputs);
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

uint64_t calls_of(Precision precision, KernelLevel level) {
  for (const KernelCount& n : kernel_counts()) {
    if (n.operation == Operation::kAttentionBackward && n.precision == precision && n.level == level) return n.calls;
  }
  return 0;
}

bool multiplies_pairs(KernelLevel level) {
  return level == KernelLevel::kAvx512Bf16 || level == KernelLevel::kAmx;
}

TEST_P(EveryGradient, RunsWhenForcedAndLeavesOddHeadSizesToTheReference) {
  AttentionGradientCase c = make({.lengths = {20}, .head_size = 32});
  const uint64_t before = calls_of(GetParam().precision, GetParam().level);
  c.run_backward();
  EXPECT_EQ(calls_of(GetParam().precision, GetParam().level), before + 1);
  AttentionGradientCase half = make({.lengths = {20}, .head_size = 48});  // not in whole vectors of pairs
  const KernelLevel widened = multiplies_pairs(GetParam().level) ? KernelLevel::kAvx512 : GetParam().level;
  const uint64_t before_half = calls_of(GetParam().precision, widened);
  half.run_backward();
  EXPECT_EQ(calls_of(GetParam().precision, widened), before_half + 1);
  AttentionGradientCase odd = make({.lengths = {20}, .head_size = 24});
  const uint64_t reference = calls_of(GetParam().precision, KernelLevel::kReference);
  odd.run_backward();
  EXPECT_EQ(calls_of(GetParam().precision, KernelLevel::kReference), reference + 1);
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
    p.precision = GetParam().precision;
    return attention_backward_scratch_bytes(GetParam().kernels(), p);
  };
  EXPECT_LT(bytes(8192), 8.1 * double(bytes(1024)));
  EXPECT_LT(bytes(8192), size_t{is_bf16() ? 96u : 64u} << 20);
}

TEST_P(EveryGradient, CheckReportsTheDifferenceFromTheReference) {
  AttentionGradientCase c = make({.lengths = {40, 7}, .heads = 2, .head_size = 32});
  KernelSet set = select_kernels(c.kernels);
  const AttentionBackwardParams p = c.backward_params();
  set.check = std::make_shared<KernelCheck>();
  c.run_backward(p, set);
  const KernelCheck::Difference worst = set.check->worst(Operation::kAttentionBackward);
  EXPECT_EQ(worst.calls, 1u);
  EXPECT_LT(worst.worst, is_bf16() ? 1e-2 : 1e-4);
  EXPECT_NE(worst.where.find("[T 47, H 2, K 32] d"), std::string::npos) << worst.where;
}

// Gradients at `level` after a forward call of the case's kernels.
test::Gradients with_level(AttentionGradientCase& c, KernelLevel level) {
  KernelSet set = select_kernels(c.kernels);
  set.levels[static_cast<size_t>(Operation::kAttentionBackward)][static_cast<size_t>(c.precision)] = level;
  c.run_backward(c.backward_params(), set);
  return c.results;
}

// The packed tables of the forward call say whether it rounds them: the gradient may run at another level.
TEST(AttentionBackward, RoundsTheTablesOfCallsInBf16WhereTheForwardCallDoes) {
  AttentionGradientCase rounded = make_case({.lengths = {70}, .head_size = 32, .precision = Precision::kBf16});
  AttentionGradientCase c = make_case({.lengths = {70}, .head_size = 32});
  c.precision = Precision::kBf16;
  const auto levels = test::levels_of(Operation::kAttentionBackward, Precision::kBf16);
  for (const KernelLevel forward : test::levels_of(Operation::kAttention, Precision::kBf16)) {
    c.kernels = rounded.kernels = to_string(forward);
    for (const KernelLevel level : levels) {
      const test::Gradients got = with_level(c, level), expected = with_level(rounded, level);
      const bool are_rounded = multiplies_pairs(forward);
      for (const auto gradient : {&test::Gradients::q, &test::Gradients::kr}) {
        EXPECT_EQ(got.*gradient == expected.*gradient, are_rounded)
            << "forward " << to_string(forward) << ", backward " << to_string(level);
      }
    }
  }
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
  p = c.backward_params();
  p.precision = Precision::kBf16;  // the same inputs as in fp32
  EXPECT_ERROR(c.run_backward(p, set), kInternal, "a null pointer");
  p.precision = Precision::kInt8;
  EXPECT_ERROR(c.run_backward(p, set), kInternal, "expected fp32 or bf16");
}

}  // namespace
}  // namespace deberta::attention_backward_test
