// The order of samples: a permutation for every size, another for every seed, epoch and source, and without a pattern.
#include "train/data/sample_order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace deberta::train::sample_order_test {
namespace {

std::vector<uint64_t> order_of(uint64_t samples, uint64_t key, uint32_t epoch, uint32_t source = 0) {
  const SampleOrder order(samples, key, epoch, source);
  std::vector<uint64_t> all;
  for (uint64_t i = 0; i < samples; ++i) all.push_back(order(i));
  return all;
}

TEST(SampleOrder, GivesEachSampleOnce) {
  for (uint64_t samples = 1; samples < 300; ++samples) {
    std::vector<int> seen(samples);
    for (const uint64_t sample : order_of(samples, 1, 0)) ++seen.at(sample);
    EXPECT_EQ(seen, std::vector<int>(samples, 1)) << samples;
  }
  std::vector<int> seen(100003);
  for (const uint64_t sample : order_of(seen.size(), 2, 5)) ++seen.at(sample);
  EXPECT_EQ(seen, std::vector<int>(seen.size(), 1));
}

TEST(SampleOrder, IsAnotherForEachSeedEpochAndSource) {
  const auto first = order_of(1000, 1, 0);
  EXPECT_EQ(order_of(1000, 1, 0), first);
  EXPECT_NE(order_of(1000, 2, 0), first);
  EXPECT_NE(order_of(1000, 1 + (uint64_t{1} << 32), 0), first);
  EXPECT_NE(order_of(1000, 1, 1), first);
  EXPECT_NE(order_of(1000, 1, 0, 1), first);
}

TEST(SampleOrder, GivesAnyPlaceOfAVeryLongOrder) {
  const uint64_t samples = (uint64_t{1} << 40) + 17;
  const SampleOrder order(samples, 3, 0);
  EXPECT_LT(order(0), samples);
  EXPECT_LT(order(samples - 1), samples);
  EXPECT_NE(order(0), order(samples - 1));
}

// Each sample at each position about equally often, over many keys (chi-squared, 5 standard deviations).
TEST(SampleOrder, HasNoFavouritePlaces) {
  constexpr size_t kSamples = 13;
  constexpr uint64_t kKeys = 20000;
  std::vector<double> counts(kSamples * kSamples);
  for (uint64_t key = 0; key < kKeys; ++key) {
    const auto order = order_of(kSamples, key * 0x9E3779B97F4A7C15, 0);
    for (size_t position = 0; position < kSamples; ++position) ++counts[position * kSamples + order[position]];
  }
  const double expected = static_cast<double>(kKeys) / kSamples;
  double chi_squared = 0;
  for (const double count : counts) chi_squared += (count - expected) * (count - expected) / expected;
  const double freedom = (kSamples - 1) * (kSamples - 1);
  EXPECT_LT(std::abs(chi_squared - freedom), 5 * std::sqrt(2 * freedom));
}

}  // namespace
}  // namespace deberta::train::sample_order_test
