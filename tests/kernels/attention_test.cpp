// Attention by the reference (head sizes that do not fill whole vectors) against its second version, and what its
// contract says about masks, packing, chosen queries and outputs. attention_kernels_test.cpp has the other
// implementations.
#include "kernels/attention.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/thread_pool.h"
#include "kernels/attention_case.h"
#include "support/expect_error.h"

namespace deberta::attention_test {
namespace {

using test::AttentionCase;
constexpr double kTolerance = 2e-6;  // outputs are averages of normals, stored in fp32

AttentionCase make_case(std::vector<int32_t> lengths) {
  AttentionCase c;
  c.lengths = std::move(lengths);
  return c;
}

void expect_agreement(AttentionCase& c, const char* what) {
  c.run();
  EXPECT_LE(c.largest_difference(), kTolerance) << what << ", length " << c.lengths[0];
  EXPECT_TRUE(c.has_guards()) << what;
}

TEST(Attention, AgreesWithGatherThenTransposeAtEveryLength) {
  for (const int32_t length : {1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 257}) {
    AttentionCase c = make_case({length});
    c.fill();
    expect_agreement(c, "8 of 16");
  }
  for (const int32_t length : {129, 512, 513, 777}) {
    AttentionCase c = make_case({length});
    c.heads = 1;
    c.head_size = 4;
    c.buckets = 256;
    c.max_relative = 512;
    c.fill();
    expect_agreement(c, "256 of 512");
  }
}

TEST(Attention, AgreesForEveryHeadSizeTermAndTable) {
  for (const unsigned head_size : {1u, 7u, 32u, 64u, 128u}) {
    AttentionCase c = make_case({21});
    c.head_size = head_size;
    c.scale = 1 / std::sqrt(3.0 * head_size);
    c.fill();
    expect_agreement(c, "head size");
  }
  for (const int terms : {0, 1, 2, 3}) {
    for (const int64_t buckets : {-1, 4, 32}) {
      AttentionCase c = make_case({40});
      c.has_c2p = (terms & 1) != 0;
      c.has_p2c = (terms & 2) != 0;
      c.buckets = buckets;
      c.max_relative = buckets == 32 ? 64 : 9;
      c.fill();
      expect_agreement(c, "terms and tables");
    }
  }
}

TEST(Attention, DistancesBeyondTheTableFollowTheRule) {
  for (const bool clamps : {true, false}) {
    AttentionCase c = make_case({50});
    c.clamps_distance = clamps;
    c.fill();
    expect_agreement(c, clamps ? "original" : "hf");
  }
}

TEST(Attention, ACausalQuerySeesTheKeysUpToItsPosition) {
  AttentionCase c = make_case({33, 4});
  c.is_causal = true;
  c.fill();
  expect_agreement(c, "causal");
}

TEST(Attention, AQueryWithoutAnAllowedKeyGetsZerosOrTheMeanOfAllValues) {
  AttentionCase c = make_case({4, 3});
  c.fill();
  c.mask = {1, 0, 1, 0, 0, 0, 0};
  c.run();
  const std::vector<float> zeros = c.out;
  AttentionParams params = c.params();
  params.averages_empty_rows = true;
  c.run(params);
  for (size_t head = 0; head < c.heads; ++head) {
    for (size_t i = 0; i < c.head_size; ++i) {
      for (const size_t token : {1u, 3u, 4u, 5u, 6u}) {
        const size_t first = token < 4 ? 0 : 4, length = token < 4 ? 4 : 3;
        double mean = 0;
        for (size_t j = 0; j < length; ++j)
          mean += double{c.v[(first + j) * c.width() + head * c.head_size + i]} / double(length);
        EXPECT_EQ(zeros[16 + token * c.width() + head * c.head_size + i], 0.0f);
        EXPECT_NEAR(c.result(token, head, i), mean, 1e-6) << token;
      }
      for (const size_t token : {0u, 2u})
        EXPECT_EQ(zeros[16 + token * c.width() + head * c.head_size + i], c.result(token, head, i));
    }
  }
}

TEST(Attention, LargeLogitsStayFinite) {
  AttentionCase c = make_case({33});
  c.deviation = 10;
  c.scale = 1;
  c.fill();
  expect_agreement(c, "logits of hundreds");
  for (const float x : c.out) EXPECT_TRUE(std::isfinite(x));
}

TEST(Attention, P2cAloneReadsTheRowOfIMinusJ) {
  AttentionCase c = make_case({30});
  c.heads = 1;
  c.head_size = 1;
  c.has_c2p = false;
  c.scale = 1;
  c.fill();
  std::fill(c.q.begin(), c.q.end(), 0.0f);
  std::fill(c.k.begin(), c.k.end(), 1.0f);
  for (size_t row = 0; row < c.qr.size(); ++row) c.qr[row] = static_cast<float>(row);
  std::vector<float> p2c(30 * 30);
  AttentionParams p = c.params();
  p.scores.p2c = p2c.data();
  c.run(p);
  bool is_symmetric = true;
  for (size_t i = 0; i < 30; ++i) {
    for (size_t j = 0; j < 30; ++j) {
      EXPECT_EQ(p2c[i * 30 + j], static_cast<float>(c.lut->row(static_cast<int64_t>(i) - static_cast<int64_t>(j))));
      is_symmetric = is_symmetric && p2c[i * 30 + j] == p2c[j * 30 + i];
    }
  }
  EXPECT_FALSE(is_symmetric);
}

TEST(Attention, C2pOfALaterSequenceReadsItsOwnQueriesAndRows) {
  AttentionCase c = make_case({5, 9, 3});
  c.has_p2c = false;
  c.fill();
  std::fill(c.k.begin(), c.k.end(), 0.0f);
  expect_agreement(c, "c2p in a pack");
}

TEST(Attention, ASequenceHasTheSameBitsAloneInAPackAndWithAnyThreads) {
  AttentionCase pack = make_case({17, 1, 33, 0, 64});
  pack.fill();
  pack.run();
  const std::vector<float> packed = pack.out;
  const std::vector<float> packed_lse = pack.lse;
  for (const unsigned threads : {2u, 3u, 7u}) {
    ThreadPool pool(threads);
    AttentionParams p = pack.params();
    p.parallel = pool.parallel();
    pack.run(p);
    EXPECT_EQ(pack.out, packed) << threads << " threads";
    EXPECT_EQ(pack.lse, packed_lse) << threads << " threads";
  }
  for (size_t b = 0; b < pack.lengths.size(); ++b) {
    AttentionCase solo = make_case({pack.lengths[b]});
    solo.fill();
    const auto part = [&](const std::vector<float>& x) {
      return std::vector<float>(x.begin() + pack.starts[b] * 16, x.begin() + pack.starts[b + 1] * 16);
    };
    solo.q = part(pack.q);
    solo.k = part(pack.k);
    solo.v = part(pack.v);
    solo.run();
    EXPECT_TRUE(std::equal(solo.out.begin() + 16, solo.out.end() - 16, packed.begin() + 16 + pack.starts[b] * 16)) << b;
  }
}

struct MaskCase {
  const char* name;
  std::vector<uint8_t> mask;
};

TEST(Attention, MasksLeaveOutKeysAndZeroTheirQueries) {
  std::vector<uint8_t> left(40, 1), right(40, 1), holes(40, 1), none(40, 0), single(40, 0);
  std::fill_n(left.begin(), 35, uint8_t{0});
  std::fill_n(right.begin() + 3, 37, uint8_t{0});
  for (size_t i = 0; i < 40; i += 3) holes[i] = 0;
  single[20] = 1;
  for (const MaskCase& m :
       {MaskCase{"left", left}, {"right", right}, {"holes", holes}, {"none", none}, {"one", single}}) {
    AttentionCase c = make_case({40});
    c.fill();
    c.mask = m.mask;
    for (size_t t = 0; t < 40; ++t) {  // masked keys and values may hold anything
      if (m.mask[t] == 0) std::fill_n(c.v.begin() + static_cast<std::ptrdiff_t>(t * c.width()), c.width(), NAN);
    }
    expect_agreement(c, m.name);
    for (size_t t = 0; t < 40; ++t) {
      if (m.mask[t] != 0) continue;
      EXPECT_EQ(c.result(t, 1, 3), 0) << m.name;
      EXPECT_EQ(c.lse[40 + t], -std::numeric_limits<float>::infinity()) << m.name;
    }
  }
}

TEST(Attention, ABitMaskAllowsSingleKeysOfSingleQueries) {
  AttentionCase c = make_case({70, 3});
  c.fill();
  std::vector<uint64_t> causal(70 * 2);
  for (size_t i = 0; i < 70; ++i) {
    for (size_t j = 0; j <= i; ++j) causal[i * 2 + j / 64] |= uint64_t{1} << (j % 64);
  }
  causal[69 * 2] = causal[69 * 2 + 1] = 0;
  const uint64_t* masks[] = {causal.data(), nullptr};
  std::vector<float> probabilities(2 * (70 * 70 + 3 * 3));
  AttentionParams p = c.params();
  p.masks_B = masks;
  p.scores.probabilities = probabilities.data();
  c.run(p);
  for (size_t i = 0; i < 70; ++i) {
    double sum = 0;
    for (size_t j = 0; j < 70; ++j) {
      const float x = probabilities[(70 + i) * 70 + j];  // second head
      EXPECT_EQ(x > 0, j <= i && i != 69) << i << ", " << j;
      sum += double{x};
    }
    EXPECT_NEAR(sum, i == 69 ? 0 : 1, 1e-6);
  }
  for (size_t n = 0; n < 8; ++n) EXPECT_EQ(c.result(69, 0, n), 0);
  AttentionCase solo = make_case({70, 3});
  solo.fill();
  solo.run();
  EXPECT_EQ(solo.result(72, 1, 5), c.result(72, 1, 5));  // the sequence without a mask is untouched
}

TEST(Attention, ChosenQueriesGiveTheRowsOfAllQueries) {
  AttentionCase all = make_case({20, 6});
  all.fill();
  all.run();
  const std::vector<int32_t> positions = {0, 7, 19, 2, 3};
  const std::vector<int32_t> query_starts = {0, 3, 5};
  const std::vector<size_t> tokens = {0, 7, 19, 22, 23};
  AttentionCase some = make_case({20, 6});
  some.fill();
  std::vector<float> q;
  for (const size_t t : tokens)
    q.insert(q.end(), all.q.begin() + static_cast<std::ptrdiff_t>(t * 16),
             all.q.begin() + static_cast<std::ptrdiff_t>(t * 16 + 16));
  some.q = q;
  AttentionParams p = some.params();
  p.query_starts = query_starts.data();
  p.query_positions = positions.data();
  some.run(p);
  for (size_t n = 0; n < tokens.size(); ++n) {
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(some.result(n, 1, i), all.result(tokens[n], 1, i));
    EXPECT_EQ(some.lse[5 + n], all.lse[26 + tokens[n]]);
  }
}

TEST(Attention, ChosenQueriesReadTheRowsOfMasksAndGivenBucketsAtTheirPositions) {
  std::vector<uint64_t> causal(20);
  std::vector<int32_t> buckets(20 * 20);
  for (size_t i = 0; i < 20; ++i) causal[i] = (uint64_t{2} << i) - 1;
  for (size_t i = 0; i < buckets.size(); ++i) buckets[i] = static_cast<int32_t>(i * 7 % 16) - 8;
  const uint64_t* masks[] = {causal.data()};
  const auto run = [&](AttentionCase& c, const std::vector<int32_t>& starts, const std::vector<int32_t>& positions) {
    AttentionParams p = c.params();
    p.masks_B = masks;
    p.given_buckets_LS = buckets.data();
    p.given_stride = 20;
    p.relative_rows = 16;
    if (!starts.empty()) p.query_starts = starts.data();
    if (!positions.empty()) p.query_positions = positions.data();
    c.run(p);
  };
  AttentionCase all = make_case({20}), some = make_case({20});
  all.fill();
  some.fill();
  run(all, {}, {});
  std::copy_n(all.q.begin() + 7 * 16, 16, some.q.begin());
  std::copy_n(all.q.begin() + 13 * 16, 16, some.q.begin() + 16);
  run(some, {0, 2}, {7, 13});
  for (size_t i = 0; i < 8; ++i) {
    EXPECT_EQ(some.result(0, 1, i), all.result(7, 1, i));
    EXPECT_EQ(some.result(1, 0, i), all.result(13, 0, i));
  }
}

TEST(Attention, GivenBucketsReplaceTheDistances) {
  AttentionCase c = make_case({12, 12});
  c.fill();
  c.run();
  const std::vector<float> expected = c.out;
  std::vector<int32_t> buckets(12 * 13, 999);
  for (int i = 0; i < 12; ++i) {
    for (int j = 0; j < 12; ++j) buckets[static_cast<size_t>(i * 13 + j)] = static_cast<int32_t>(c.bucket(i - j));
  }
  AttentionParams p = c.params();
  p.lut = nullptr;
  p.given_buckets_LS = buckets.data();
  p.given_stride = 13;
  p.relative_rows = 16;
  c.run(p);
  EXPECT_EQ(c.out, expected);
  std::fill(buckets.begin(), buckets.end(), 1000);  // clamped to the last row
  p = c.params();
  std::vector<float> c2p(2 * 2 * 12 * 12);
  p.given_buckets_LS = buckets.data();
  p.given_stride = 13;
  p.relative_rows = 16;
  p.scores.c2p = c2p.data();
  c.run(p);
  double last = 0;
  for (size_t i = 0; i < 8; ++i) last += double{c.q[i]} * double{c.kr[15 * 16 + i]};
  EXPECT_NEAR(c2p[5], c.scale * last, 1e-6);
}

TEST(Attention, TermsAddUpAndTheLogSumExpIsTheirs) {
  AttentionCase c = make_case({4, 10});
  c.fill();
  const size_t count = 2 * (16 + 100);
  std::vector<float> c2c(count), c2p(count), p2c(count), probabilities(count);
  AttentionParams p = c.params();
  p.scores = {c2c.data(), c2p.data(), p2c.data(), probabilities.data()};
  c.run(p);
  const auto scores = c.second_scores(1, 1);
  const size_t first = 2 * 16 + 100;  // second sequence, second head
  for (size_t i = 0; i < 10; ++i) {
    double sum = 0;
    for (size_t j = 0; j < 10; ++j) {
      const size_t at = first + i * 10 + j;
      EXPECT_NEAR(c2c[at] + c2p[at] + p2c[at], scores[i][j], 1e-5);
      sum += std::exp2(scores[i][j] * std::numbers::log2e);
    }
    EXPECT_NEAR(c.lse[14 + 4 + i], std::log2(sum), 1e-5);
    EXPECT_NEAR(probabilities[first + i * 10 + 3], std::exp(scores[i][3]) / sum, 1e-6);
  }
}

TEST(Attention, AConstantAddedToEveryRowOfKrChangesNothing) {
  AttentionCase c = make_case({25});
  c.fill();
  c.run();
  const std::vector<float> before = c.out;
  const auto shift = test::normals(77, c.width());
  for (size_t i = 0; i < c.kr.size(); ++i) c.kr[i] += shift[i % c.width()];
  c.run();
  for (size_t i = 16; i < before.size() - 16; ++i) EXPECT_NEAR(c.out[i], before[i], 1e-5);
}

TEST(Attention, AConstantAddedToEveryRowOfQrEqualsAddingItToEveryQueryInC2c) {
  AttentionCase c = make_case({25});
  c.has_c2p = false;  // c2p reads the queries too
  c.fill();
  AttentionCase shifted = make_case({25});
  shifted.has_c2p = false;
  shifted.fill();
  const auto shift = test::normals(78, c.width());
  for (size_t i = 0; i < c.qr.size(); ++i) c.qr[i] += shift[i % c.width()];
  for (size_t i = 0; i < c.q.size(); ++i) shifted.q[i] += shift[i % c.width()];
  c.run();
  shifted.run();
  for (size_t i = 16; i < c.out.size() - 16; ++i) EXPECT_NEAR(c.out[i], shifted.out[i], 1e-5);
}

TEST(Attention, ReversingTheSequenceAndTheTablesReversesTheOutput) {
  AttentionCase c = make_case({16});
  c.fill();
  AttentionCase back = make_case({16});
  back.fill();
  const size_t width = c.width();
  const auto reverse_rows = [&](std::vector<float>& x, const std::vector<float>& y, size_t rows, size_t last) {
    for (size_t row = 0; row < rows; ++row) std::copy_n(&y[(last - row) % rows * width], width, &x[row * width]);
  };
  reverse_rows(back.q, c.q, 16, 15);
  reverse_rows(back.k, c.k, 16, 15);
  reverse_rows(back.v, c.v, 16, 15);
  reverse_rows(back.kr, c.kr, 16, 16);  // row t -> R - t; row 0 is never read
  reverse_rows(back.qr, c.qr, 16, 16);
  c.run();
  back.run();
  for (size_t t = 0; t < 16; ++t) {
    for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(back.result(t, 1, i), c.result(15 - t, 1, i), 1e-6);
  }
}

TEST(Attention, RefusesWhatDoesNotFitTogether) {
  AttentionCase c = make_case({300});
  c.fill();
  AttentionParams p = c.params();
  const RelLut short_lut({8, 16, true, 100});
  p.lut = &short_lut;
  EXPECT_ERROR(c.run(p), kInternal, "a sequence longer than the table of rows");
  p = c.params();
  p.kr = {};
  EXPECT_ERROR(c.run(p), kInternal, "c2p without its table");
  p = c.params();
  p.dropout.p = 1;
  EXPECT_ERROR(c.run(p), kInternal, "dropout outside [0, 1)");
}

}  // namespace
}  // namespace deberta::attention_test
