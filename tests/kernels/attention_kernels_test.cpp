// Every implementation of attention, in every precision: bits that depend on nothing but the sequence, masks, chosen
// queries, strides, scratch. attention_accuracy_test.cpp has the table of cases against sums in double,
// attention_test.cpp tests the reference.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/attention.h"
#include "kernels/attention_case.h"
#include "kernels/attention_gradient_case.h"
#include "kernels/attention_naive.h"
#include "support/implementations.h"

namespace {
std::atomic<size_t> allocations = 0;
}  // namespace

// Not inlined: g++ 12 would warn that free() gets a pointer from new.
[[gnu::noinline]] void* operator new(std::size_t size_bytes) {
  ++allocations;
  if (void* block = std::malloc(size_bytes)) return block;
  throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* block) noexcept {
  std::free(block);
}
[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
  std::free(block);
}

namespace deberta::attention_kernels_test {
namespace {

using test::AttentionCase;

using Kernel = test::Implementation;

AttentionCase make_case(std::vector<int32_t> lengths, const Kernel& kernel) {
  AttentionCase c;
  c.lengths = std::move(lengths);
  c.kernels = to_string(kernel.level);
  c.precision = kernel.precision;
  c.head_size = 32;
  c.scale = 1 / std::sqrt(96.0);
  return c;
}

class EveryKernel : public testing::TestWithParam<Kernel> {
 protected:
  AttentionCase make(std::vector<int32_t> lengths, int64_t buckets = 8) const {
    AttentionCase c = make_case(std::move(lengths), GetParam());
    c.buckets = buckets;
    c.max_relative = 2 * buckets;
    return c;
  }
};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(EveryKernel);
INSTANTIATE_TEST_SUITE_P(Attention, EveryKernel,
                         testing::ValuesIn(test::vector_implementations(Operation::kAttention,
                                                                        {Precision::kFp32, Precision::kBf16})),
                         test::kNameOfImplementation);

double tolerance(Precision precision) {
  return precision == Precision::kBf16 ? 2e-2 : 2e-5;
}

// Truncated instead of rounded, bf16 probabilities are a thousandth too small on average.
TEST_P(EveryKernel, ErrorsLeanToNeitherSide) {
  AttentionCase c = make({130});
  c.fill();
  for (float& v : c.v) v = 1 + std::abs(v);
  c.params();  // rounds the inputs
  const std::vector<double> expected = test::exact_attention(c);
  c.run();
  double sum = 0;
  for (size_t i = 0; i < expected.size(); ++i) sum += double{c.out[16 + i]} / expected[i] - 1;
  EXPECT_NEAR(sum / static_cast<double>(expected.size()), 0, c.precision == Precision::kBf16 ? 3e-4 : 1e-6);
}

// The probabilities of one head of the only sequence; the values expose them: v_j is 1 in column j.
std::vector<double> spelled_probabilities(AttentionCase& c) {
  const size_t keys = c.tokens();
  std::fill(c.v.begin(), c.v.end(), 0.0f);
  for (size_t j = 0; j < keys; ++j) c.v[j * c.width() + j] = 1;
  c.run();
  std::vector<double> p;
  for (size_t i = 0; i < keys; ++i) {
    for (size_t j = 0; j < keys; ++j) p.push_back(double{c.result(i, 0, j)});
  }
  return p;
}

TEST_P(EveryKernel, BothTermsReadTheRowOfIMinusJ) {
  for (const bool is_p2c : {true, false}) {
    AttentionCase c = make({60});
    c.heads = 1;
    c.head_size = 64;
    c.has_p2c = is_p2c;
    c.has_c2p = !is_p2c;
    c.scale = 0.25;
    c.fill();
    std::fill(c.q.begin(), c.q.end(), is_p2c ? 0.0f : 1 / 64.0f);
    std::fill(c.k.begin(), c.k.end(), is_p2c ? 1 / 64.0f : 0.0f);
    for (size_t i = 0; i < c.qr.size(); ++i) c.qr[i] = c.kr[i] = static_cast<float>(i / 64);  // the number of the row
    const std::vector<double> p = spelled_probabilities(c);
    for (int64_t i = 0; i < 60; ++i) {
      double sum = 0;
      const auto weight = [&](int64_t j) { return std::exp(0.25 * c.lut->row(i - j)); };
      for (int64_t j = 0; j < 60; ++j) sum += weight(j);
      for (int64_t j = 0; j < 60; ++j) {
        EXPECT_NEAR(p[static_cast<size_t>(60 * i + j)], weight(j) / sum, tolerance(c.precision) / 4)
            << (is_p2c ? "p2c " : "c2p ") << i << ", " << j;
      }
    }
  }
}

// Values are unit vectors of 64 keys at a time: the output is their part of the probabilities.
TEST_P(EveryKernel, DropsTheEntriesThatTheBytesNameAndNoOther) {
  constexpr size_t kKeys = 300, kWindow = 64;
  for (size_t first = 0; first < kKeys; first += kWindow) {
    AttentionCase c = make({3, kKeys});
    c.head_size = kWindow;
    c.dropout = {.p = 0.5, .seed = 0x1122334455667788, .step = 9, .layer = 2, .sequence_offset = 6};
    c.fill();
    std::fill(c.v.begin(), c.v.end(), 0.0f);
    for (size_t j = first; j < std::min(kKeys, first + kWindow); ++j) {
      for (size_t h = 0; h < 2; ++h) c.v[(3 + j) * c.width() + h * kWindow + j - first] = 1;
    }
    c.run();
    for (uint32_t i = 0; i < kKeys; ++i) {
      for (uint32_t h = 0; h < 2; ++h) {
        for (auto j = static_cast<uint32_t>(first); j < std::min(kKeys, first + kWindow); ++j) {
          const bool is_dropped = dropout_bytes(c.dropout, 1, 2, h, i, j / 16)[j % 16] < 128;
          EXPECT_EQ(c.result(3 + i, h, j - first) == 0, is_dropped) << i << ", " << j << ", head " << h;
        }
      }
    }
  }
}

TEST_P(EveryKernel, DropoutLeavesTheLogSumExpAsItIs) {
  AttentionCase c = make({70, 20});
  c.fill();
  c.run();
  const std::vector<float> lse = c.lse, out = c.out;
  c.dropout = {.p = 0.1, .seed = 5};
  c.run();
  EXPECT_EQ(c.lse, lse);
  EXPECT_NE(c.out, out);
  c.dropout.p = 0;
  c.run();
  EXPECT_EQ(c.out, out);
}

TEST_P(EveryKernel, DropoutAndCausalityNeedNoReference) {
  AttentionCase c = make({70});
  c.fill();
  const AttentionParams p = c.params();
  const KernelSet set = select_kernels(c.kernels);
  AttentionParams dropping = p, causal = p;
  dropping.dropout.p = 0.1;
  causal.is_causal = true;
  EXPECT_EQ(attention_level(set, dropping), GetParam().level);
  EXPECT_EQ(attention_level(set, causal), GetParam().level);
}

TEST_P(EveryKernel, ACausalQuerySeesNothingOfLaterTokens) {
  AttentionCase c = make({200}, 32);
  c.is_causal = true;
  c.fill();
  c.run();
  const std::vector<float> before = c.out;
  for (auto* x : {&c.q, &c.k, &c.v}) {
    for (size_t at = 101 * c.width(); at < x->size(); ++at) (*x)[at] = 9;
  }
  c.run();
  const auto end = static_cast<std::ptrdiff_t>(16 + 101 * c.width());
  EXPECT_TRUE(std::equal(c.out.begin(), c.out.begin() + end, before.begin()));
  EXPECT_NE(c.result(101, 0, 0), before[16 + 101 * c.width()]);
}

TEST_P(EveryKernel, LargeLogitsStayFinite) {
  AttentionCase c = make({100});
  c.deviation = 10;
  c.scale = 1;
  c.fill();
  c.run();
  for (const float x : c.out) EXPECT_TRUE(std::isfinite(x));
}

TEST_P(EveryKernel, ANumberThatIsNotFiniteIsNotHidden) {
  AttentionCase c = make({50});
  c.fill();
  c.q[5 * c.width()] = NAN;
  c.run();
  EXPECT_TRUE(std::isnan(c.result(5, 0, 3)));
  for (const size_t row : {4u, 6u}) EXPECT_TRUE(std::isfinite(c.result(row, 0, 3)));
}

std::vector<float> part_of(const std::vector<float>& x, const AttentionCase& c, size_t sequence) {
  const auto width = static_cast<std::ptrdiff_t>(c.width());
  return {x.begin() + c.starts[sequence] * width, x.begin() + c.starts[sequence + 1] * width};
}
std::vector<float> output_of(const AttentionCase& c, size_t sequence) {
  return part_of({c.out.begin() + 16, c.out.end() - 16}, c, sequence);
}

TEST_P(EveryKernel, ASequenceHasTheSameBitsAloneInAnyPackAndWithAnyThreads) {
  AttentionCase pack = make({47, 1, 131, 0, 64}, 32);
  pack.fill();
  pack.run();
  const std::vector<float> packed = pack.out, packed_lse = pack.lse;
  for (const unsigned threads : {2u, 3u, 7u, 16u}) {  // 16: too few tasks, so they are split into blocks of rows
    ThreadPool pool(threads);
    AttentionParams p = pack.params();
    p.parallel = pool.parallel();
    pack.run(p);
    EXPECT_EQ(pack.out, packed) << threads << " threads";
    EXPECT_EQ(pack.lse, packed_lse) << threads << " threads";
  }
  const std::vector<size_t> order = {4, 2, 0, 3, 1};
  AttentionCase other = make({}, 32);
  for (const size_t b : order) other.lengths.push_back(pack.lengths[b]);
  other.fill();
  for (const auto member : {&AttentionCase::q, &AttentionCase::k, &AttentionCase::v}) {
    (other.*member).clear();
    for (const size_t b : order) {
      const std::vector<float> part = part_of(pack.*member, pack, b);
      (other.*member).insert((other.*member).end(), part.begin(), part.end());
    }
  }
  other.run();
  for (size_t n = 0; n < order.size(); ++n) {
    AttentionCase solo = make({pack.lengths[order[n]]}, 32);
    solo.fill();
    for (const auto member : {&AttentionCase::q, &AttentionCase::k, &AttentionCase::v})
      solo.*member = part_of(pack.*member, pack, order[n]);
    solo.run();
    EXPECT_EQ(output_of(other, n), output_of(pack, order[n])) << "permuted, length " << solo.lengths[0];
    EXPECT_EQ(output_of(solo, 0), output_of(pack, order[n])) << "alone, length " << solo.lengths[0];
  }
}

struct MaskCase {
  const char* name;
  std::vector<uint8_t> mask;
};

std::vector<MaskCase> masks(size_t count) {
  std::vector<uint8_t> left(count, 1), right(count, 1), holes(count, 1), none(count, 0), single(count, 0);
  std::fill(left.begin(), left.end() - 5, uint8_t{0});
  std::fill(right.begin() + 3, right.end(), uint8_t{0});
  for (size_t i = 0; i < count; i += 3) holes[i] = 0;
  single[20] = 1;
  return {{"left", left}, {"right", right}, {"holes", holes}, {"none", none}, {"one", single}};
}

TEST_P(EveryKernel, MaskedTokensMayHoldAnythingAndGetZeros) {
  for (const MaskCase& m : masks(150)) {
    AttentionCase c = make({150});
    c.fill();
    c.mask = m.mask;
    c.params();
    const std::vector<double> expected = test::exact_attention(c);
    for (size_t t = 0; t < 150; ++t) {
      if (m.mask[t] != 0) continue;
      for (auto* x : {&c.q, &c.k, &c.v})
        std::fill_n(x->begin() + static_cast<std::ptrdiff_t>(t * c.width()), c.width(), NAN);
    }
    c.run();
    const std::vector<double> got(c.out.begin() + 16, c.out.end() - 16);
    EXPECT_LE(test::largest_difference(got, expected), tolerance(c.precision)) << m.name;
    for (size_t t = 0; t < 150; ++t) {
      if (m.mask[t] != 0) continue;
      EXPECT_EQ(c.result(t, 1, 3), 0) << m.name;
      EXPECT_EQ(c.lse[150 + t], -std::numeric_limits<float>::infinity()) << m.name;
    }
  }
}

TEST_P(EveryKernel, AMaskThatHidesNothingChangesNoBit) {
  AttentionCase c = make({100});
  c.fill();
  c.run();
  const std::vector<float> without = c.out;
  c.mask.assign(100, 1);
  c.run();
  EXPECT_EQ(c.out, without);
}

TEST_P(EveryKernel, ABitMaskAllowsSingleKeysOfSingleQueries) {
  AttentionCase c = make({60});
  c.heads = 1;
  c.head_size = 64;
  c.fill();
  std::vector<uint64_t> causal(60);
  for (size_t i = 0; i < 60; ++i) causal[i] = (uint64_t{2} << i) - 1;
  causal[59] = 0;
  const uint64_t* masks_B[] = {causal.data()};
  std::fill(c.v.begin(), c.v.end(), 0.0f);
  for (size_t j = 0; j < 60; ++j) c.v[j * 64 + j] = 1;
  AttentionParams p = c.params();
  p.masks_B = masks_B;
  c.run(p);
  for (size_t i = 0; i < 60; ++i) {
    double sum = 0;
    for (size_t j = 0; j < 60; ++j) {
      EXPECT_EQ(c.result(i, 0, j) > 0, j <= i && i != 59) << i << ", " << j;
      sum += double{c.result(i, 0, j)};
    }
    EXPECT_NEAR(sum, i == 59 ? 0 : 1, tolerance(c.precision));
  }
}

// Both are the same case.
void expect_bits_of_all_queries(AttentionCase& all, AttentionCase& some) {
  all.fill();
  all.run();
  const std::vector<int32_t> positions = {0, 7, 16, 17, 18, 19, 20, 31, 33, 64, 130, 131, 199, 2, 3};
  const std::vector<int32_t> query_starts = {0, 13, 15, 15};
  some.fill();
  some.q.clear();
  std::vector<size_t> tokens;
  for (size_t n = 0; n < positions.size(); ++n)
    tokens.push_back(static_cast<size_t>(positions[n] + (n < 13 ? 0 : 200)));
  for (const size_t t : tokens) {
    const auto first = all.q.begin() + static_cast<std::ptrdiff_t>(t * all.width());
    some.q.insert(some.q.end(), first, first + static_cast<std::ptrdiff_t>(all.width()));
  }
  AttentionParams p = some.params();
  p.query_starts = query_starts.data();
  p.query_positions = positions.data();
  some.run(p);
  for (size_t n = 0; n < tokens.size(); ++n) {
    for (size_t i = 0; i < all.head_size; ++i) EXPECT_EQ(some.result(n, 1, i), all.result(tokens[n], 1, i)) << n;
    EXPECT_EQ(some.lse[15 + n], all.lse[236 + tokens[n]]);
  }
}

TEST_P(EveryKernel, ChosenQueriesHaveTheBitsOfAllQueries) {
  for (const bool is_causal : {false, true}) {
    AttentionCase all = make({200, 6, 30}, 32), some = make({200, 6, 30}, 32);
    for (AttentionCase* c : {&all, &some}) {
      c->is_causal = is_causal;
      c->dropout = {.p = is_causal ? 0.1 : 0, .seed = 3};
    }
    expect_bits_of_all_queries(all, some);
  }
}

TEST_P(EveryKernel, ChosenCausalQueriesNeedNotReachTheLastKeys) {
  AttentionCase c = make({300}, 256);
  c.is_causal = true;
  c.fill();
  c.run();
  const std::vector<float> all = c.out;
  const int32_t query_starts[] = {0, 3};
  AttentionParams p = c.params();
  p.query_starts = query_starts;
  c.run(p);
  for (size_t at = 0; at < 3 * c.width(); ++at) EXPECT_EQ(c.out[16 + at], all[16 + at]) << at;
}

TEST_P(EveryKernel, ReadsAndWritesOnlyItsRowsOfStridedUnalignedData) {
  AttentionCase dense = make({70});
  dense.heads = 1;
  dense.fill();
  dense.run();
  const std::vector<float> expected = output_of(dense, 0);
  AttentionCase wide = make({70});  // room for two heads; the second is not part of the call
  wide.fill();
  for (const auto member : {&AttentionCase::q, &AttentionCase::k, &AttentionCase::v}) {
    for (size_t i = 0; i < (wide.*member).size(); ++i)
      (wide.*member)[i] = i % 64 < 32 ? (dense.*member)[i / 64 * 32 + i % 64] : NAN;
  }
  const AttentionParams strided = wide.params();
  AttentionParams p = dense.params();
  p.q = strided.q;
  p.k = strided.k;
  p.v = strided.v;
  const size_t size = p.precision == Precision::kBf16 ? sizeof(Bf16) : sizeof(float);
  p.out = {static_cast<char*>(strided.out.data) + size, strided.out.token_stride, strided.out.head_stride};
  wide.run(p);
  for (size_t t = 0; t < 70; ++t) {
    for (size_t i = 0; i < 64; ++i) {
      const float got = wide.out[16 + t * 64 + 1 + i];
      EXPECT_EQ(got, i < 32 ? expected[t * 32 + i] : test::kGuard) << t << ", " << i;
    }
  }
}

TEST_P(EveryKernel, TheLogSumExpIsThatOfTheScores) {
  AttentionCase c = make({4, 70});
  c.fill();
  c.run();
  const auto scores = c.second_scores(1, 1);
  for (size_t i = 0; i < 70; ++i) {
    double sum = 0;
    for (const double x : scores[i]) sum += std::exp(x);
    EXPECT_NEAR(c.lse[74 + 4 + i], std::log2(sum), tolerance(c.precision));
  }
}

uint64_t calls_of(KernelLevel level, Precision precision) {
  for (const KernelCount& n : kernel_counts()) {
    if (n.operation == Operation::kAttention && n.precision == precision && n.level == level) return n.calls;
  }
  return 0;
}

TEST_P(EveryKernel, RunsWhenForcedAndLeavesTheRestToTheReference) {
  const auto [precision, level] = GetParam();
  AttentionCase c = make({20});
  c.fill();
  const uint64_t before = calls_of(level, precision), reference = calls_of(KernelLevel::kReference, precision);
  c.run();
  EXPECT_EQ(calls_of(level, precision), before + 1);
  std::vector<float> probabilities(2 * 20 * 20);
  AttentionParams p = c.params();
  p.scores.probabilities = probabilities.data();
  c.run(p);
  p = c.params();
  p.averages_empty_rows = true;
  c.run(p);
  EXPECT_EQ(calls_of(level, precision), before + 1);
  EXPECT_EQ(calls_of(KernelLevel::kReference, precision), reference + 2);
}

TEST_P(EveryKernel, ScratchIsLinearInTheLength) {
  const auto bytes = [&](int32_t length) {
    AttentionCase c = make({length});
    c.starts = {0, length};
    c.head_size = 64;
    static const RelLut lut({256, 512, true, 8192});
    AttentionParams p{};
    p.precision = c.precision;
    p.starts = c.starts.data();
    p.sequences = 1;
    p.heads = 12;
    p.head_size = 64;
    p.lut = &lut;
    return attention_scratch_bytes(select_kernels(c.kernels), p);
  };
  EXPECT_LT(bytes(8192), 8.1 * double(bytes(1024)));
  EXPECT_LT(bytes(8192), size_t{32} << 20);
}

TEST_P(EveryKernel, ACallAllocatesNothing) {
  AttentionCase c = make({40, 130, 7});
  c.fill();
  const KernelSet set = select_kernels(c.kernels);
  AttentionParams p = c.params();
  c.scratch.reserve(attention_scratch_bytes(set, p));
  p.scratch = c.scratch.take<std::byte>(attention_scratch_bytes(set, p));
  const size_t before = allocations;
  attention(set, p);
  EXPECT_EQ(allocations, before);
}

TEST(AttentionBackward, ACallAllocatesNothing) {
  test::AttentionGradientCase c;
  c.lengths = {40, 130, 7};
  c.head_size = 32;
  c.fill();
  for (const KernelLevel level : test::levels_of(Operation::kAttentionBackward)) {
    const KernelSet set = select_kernels(to_string(level));
    c.kernels = to_string(level);
    AttentionBackwardParams p = c.backward_params();
    c.scratch.reserve(attention_backward_scratch_bytes(set, p));
    c.scratch.reset();
    p.scratch = c.scratch.take<std::byte>(attention_backward_scratch_bytes(set, p));
    const size_t before = allocations;
    attention_backward(set, p);
    EXPECT_EQ(allocations, before) << to_string(level);
  }
}

TEST_P(EveryKernel, CheckReportsTheDifferenceFromTheReference) {
  AttentionCase c = make({40, 7});
  c.fill();
  KernelSet set = select_kernels(c.kernels);
  set.check = std::make_shared<KernelCheck>();
  AttentionParams p = c.params();
  c.scratch.reserve(attention_scratch_bytes(set, p));
  p.scratch = c.scratch.take<std::byte>(attention_scratch_bytes(set, p));
  attention(set, p);
  const KernelCheck::Difference worst = set.check->worst(Operation::kAttention);
  EXPECT_EQ(worst.calls, 1u);
  EXPECT_LT(worst.worst, tolerance(c.precision));
  EXPECT_NE(worst.where.find("[T 47, H 2, K 32] row"), std::string::npos) << worst.where;
}

TEST_P(EveryKernel, RefusesTablesPackedForAnother) {
  AttentionCase c = make({10});
  c.fill();
  AttentionParams p = c.params();
  p.kr.is_reversed = false;
  EXPECT_THROW(c.run(p), Error);
}

}  // namespace
}  // namespace deberta::attention_kernels_test
