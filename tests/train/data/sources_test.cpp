// Where samples come from: every run once in an epoch, in another order in the next, and corpora in their shares.
#include "train/data/sources.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "support/expect_error.h"
#include "support/paths.h"
#include "train/data/token_file_case.h"

namespace deberta::train::sources_test {
namespace {

// Corpora of these numbers of tokens.
struct Case {
  explicit Case(const std::vector<size_t>& sizes) {
    for (size_t i = 0; i < sizes.size(); ++i) {
      const std::string path = folder.path(std::to_string(i));
      test_case::write_tokens(path, {std::vector<int32_t>(sizes[i], 5)}, 10);
      files.push_back(std::make_unique<TokenFile>(path, 10));
    }
  }
  Sources sources(const std::vector<double>& weights, double exponent, std::vector<LengthStage> stages = {{0, 12}},
                  uint64_t seed = 1) const {
    std::vector<Source> all;
    for (size_t i = 0; i < files.size(); ++i)
      all.push_back({Runs(*files[i], DocumentBoundary::kNone, 1, 2), weights.at(i)});
    return Sources(std::move(all), exponent, stages, seed);
  }

  test::TemporaryFolder folder;
  std::vector<std::unique_ptr<TokenFile>> files;
};

std::vector<uint64_t> runs_of(Sources& sources, uint64_t first, uint64_t count, size_t stage = 0) {
  std::vector<uint64_t> runs;
  for (uint64_t i = 0; i < count; ++i) runs.push_back(sources.find(first + i, stage).run);
  return runs;
}

TEST(Sources, GiveEveryRunOnceInAnEpochAndInAnotherOrderInTheNext) {
  const Case c({1000});  // 100 runs of 10
  Sources sources = c.sources({1}, 1);
  const auto first = runs_of(sources, 0, 100);
  const auto second = runs_of(sources, 100, 100);
  EXPECT_EQ(std::set<uint64_t>(first.begin(), first.end()).size(), 100u);
  EXPECT_EQ(std::set<uint64_t>(second.begin(), second.end()).size(), 100u);
  EXPECT_NE(first, second);
  EXPECT_EQ(sources.find(99, 0).epoch, 0u);
  EXPECT_EQ(sources.find(100, 0).epoch, 1u);
  Sources other_seed = c.sources({1}, 1, {{0, 12}}, 2);
  EXPECT_NE(runs_of(other_seed, 0, 100), first);
}

TEST(Sources, AStageOfTheSameLengthHasAnotherOrder) {
  const Case c({1000});
  Sources sources = c.sources({1}, 1, {{0, 12}, {50, 12}});
  EXPECT_NE(runs_of(sources, 0, 100, 0), runs_of(sources, 0, 100, 1));
}

TEST(Sources, DoNotDependOnWhatWasAskedBefore) {
  const Case c({5000, 3000});
  Sources asked = c.sources({1, 2}, 0.5);
  const auto forward = runs_of(asked, 4000, 300);
  runs_of(asked, 90000, 5);
  Sources fresh = c.sources({1, 2}, 0.5);
  for (uint64_t i = 300; i-- > 0;) EXPECT_EQ(fresh.find(4000 + i, 0).run, forward[i]);
  EXPECT_EQ(runs_of(asked, 4000, 300), forward);
}

std::vector<double> shares(Sources& sources, uint64_t samples) {
  std::vector<double> counts(sources.size());
  for (uint64_t i = 0; i < samples; ++i) counts[sources.find(i, 0).source] += 1.0 / static_cast<double>(samples);
  return counts;
}

TEST(Sources, SharesAreWeightTimesSizeToTheExponent) {
  const Case c({16000, 1000});
  const auto share_of_second = [&](const std::vector<double>& weights, double exponent) {
    Sources sources = c.sources(weights, exponent);
    return shares(sources, 4096 * 3)[1];
  };
  EXPECT_NEAR(share_of_second({1, 1}, 1), 1.0 / 17, 1.0 / 4096);
  EXPECT_NEAR(share_of_second({1, 1}, 0.5), 1.0 / 5, 1.0 / 4096);
  EXPECT_NEAR(share_of_second({1, 1}, 0), 1.0 / 2, 1.0 / 4096);
  EXPECT_NEAR(share_of_second({1, 4}, 1), 4.0 / 20, 1.0 / 4096);
}

TEST(Sources, AShortStretchHasAboutItsSharesToo) {
  const Case c({4000, 4000});
  Sources sources = c.sources({3, 1}, 1);
  for (uint64_t first = 0; first < 4096; first += 512) {
    double second = 0;
    for (uint64_t i = 0; i < 512; ++i) second += sources.find(first + i, 0).source == 1 ? 1 : 0;
    EXPECT_NEAR(second / 512, 0.25, 5 * std::sqrt(0.25 * 0.75 / 512)) << first;
  }
}

TEST(Sources, EachSourceGivesAllItsRunsBeforeOneComesAgain) {
  const Case c({20000, 3000});
  Sources sources = c.sources({1, 5}, 0.7);
  std::map<std::pair<size_t, uint64_t>, std::set<uint64_t>> seen;  // run numbers by source and epoch
  for (uint64_t i = 0; i < 20000; ++i) {
    const SampleOrigin origin = sources.find(i, 0);
    EXPECT_TRUE(seen[std::pair(origin.source, origin.epoch)].insert(origin.run).second) << i;
  }
  EXPECT_EQ(seen[std::pair(0, 0)].size(), 2000u);
  EXPECT_EQ(seen[std::pair(1, 0)].size(), 300u);
}

TEST(Sources, WhatCannotBeSharedIsRefused) {
  const Case c({1000, 1000});
  EXPECT_ERROR(c.sources({1, 0}, 1), kUsage, "source_weight");
  EXPECT_ERROR(c.sources({1, std::nan("")}, 1), kUsage, "source_weight");
  EXPECT_ERROR(c.sources({1, 1}, 2), kUsage, "source_exponent");
  EXPECT_ERROR(c.sources({1, 1e-9}, 1), kUsage, "corpus 2 would get less than one of 4096 samples");
  EXPECT_ERROR(c.sources({1, 1}, 1, {{0, 12}, {5, 1003}}), kInput, "expected at least 1001 pieces");
}

}  // namespace
}  // namespace deberta::train::sources_test
