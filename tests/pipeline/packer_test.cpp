// Which sequences run together, and that those which are made for a pack are there for no longer.
#include "pipeline/packer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "pipeline/plan.h"
#include "support/paths.h"
#include "support/tiny_pipeline.h"

namespace deberta::packer_test {
namespace {

using Packs = std::vector<std::vector<size_t>>;

Packs packs_of(const std::vector<size_t>& lengths, const PackRules& rules) {
  Packer packer(lengths, rules);
  Packs packs;
  for (std::span<const size_t> pack = packer.next(); !pack.empty(); pack = packer.next())
    packs.emplace_back(pack.begin(), pack.end());
  EXPECT_TRUE(packer.next().empty()) << "it has ended";
  return packs;
}

TEST(Packs, HoldSequencesInTheirOrderUpToTheLimit) {
  EXPECT_EQ(packs_of({4, 6, 1, 5, 5, 5}, {.tokens = 10}), (Packs{{0, 1}, {2, 3}, {4, 5}}));
  EXPECT_EQ(packs_of({3, 3, 3}, {.tokens = 9}), (Packs{{0, 1, 2}}));
  EXPECT_EQ(packs_of({3, 3, 3}, {.tokens = 8}), (Packs{{0, 1}, {2}}));
}

TEST(Packs, OfALongerSequenceHoldItAlone) {
  EXPECT_EQ(packs_of({2, 11, 2, 2}, {.tokens = 10}), (Packs{{0}, {1}, {2, 3}}));
  EXPECT_EQ(packs_of({11, 2}, {.tokens = 10}), (Packs{{0}, {1}}));
  EXPECT_EQ(packs_of({2, 2}, {.tokens = 1}), (Packs{{0}, {1}}));
}

TEST(Packs, ByLengthBeginWithTheShortestAndKeepTheOrderOfEqualOnes) {
  const PackRules rules{.tokens = 10, .order = PackOrder::kByLength};
  EXPECT_EQ(packs_of({9, 3, 30, 3, 5}, rules), (Packs{{1, 3}, {4}, {0}, {2}}));
  EXPECT_EQ(packs_of({5, 5, 5, 5}, rules), (Packs{{0, 1}, {2, 3}}));
}

TEST(Packs, HoldNoMoreSequencesThanTheyMay) {
  EXPECT_EQ(packs_of({1, 1, 1, 1, 1}, {.tokens = 10, .sequences = 2}), (Packs{{0, 1}, {2, 3}, {4}}));
  EXPECT_EQ(packs_of({9, 9, 1, 1}, {.tokens = 10, .sequences = 2}), (Packs{{0}, {1, 2}, {3}}));
}

TEST(Packs, OfLogitsAreSmallerTheLargerTheVocabulary) {
  EXPECT_EQ(most_logit_rows(1 << 14), 1024u);
  EXPECT_EQ(most_logit_rows(128100), 130u);
  EXPECT_EQ(most_logit_rows(int64_t{1} << 40), 1u);
}

TEST(Packs, OfNothingAreNone) {
  EXPECT_TRUE(packs_of({}, {.tokens = 10}).empty());
}

// Sequences that are made on demand, and how many of them are there: made, and not yet taken.
class MadeSequences {
 public:
  MadeSequences(size_t count, size_t tokens) : tokens_(tokens), ids_(tokens, 5), count_(count) {}

  SequencePlan plan() {
    SequencePlan plan;
    plan.sequences = SequenceSource({}, std::vector<size_t>(count_, tokens_), [this](size_t sequence, Batch& pack) {
      order_.push_back(sequence);
      most_ = std::max(most_, ++live_);
      pack.add(ids_);
    });
    plan.take = [this](size_t sequence, std::span<const float>) {
      EXPECT_EQ(sequence, order_[taken_++]);
      --live_;
    };
    return plan;
  }

  size_t most() const { return most_; }
  size_t taken() const { return taken_; }
  const std::vector<size_t>& order() const { return order_; }

 private:
  size_t tokens_;
  std::vector<int32_t> ids_;
  size_t count_;
  size_t live_ = 0, most_ = 0, taken_ = 0;
  std::vector<size_t> order_;
};

TEST(SequencesOnDemand, AreThereForOnePackAtATime) {
  const test::TemporaryFolder folder;
  const Pipeline pipeline = test::tiny_pipeline(folder, Head::kNone, {}, 0);
  MadeSequences sequences(100, 7);
  SequencePlan plan = sequences.plan();
  plan.layer = 1;
  run_plan(pipeline.model, plan, 30);
  EXPECT_EQ(sequences.most(), 4u) << "30 tokens hold four of 7";
  EXPECT_EQ(sequences.taken(), 100u);
  EXPECT_TRUE(std::ranges::is_sorted(sequences.order())) << "each of them once, in order";
  EXPECT_EQ(sequences.order().size(), 100u);
}

TEST(SequencesOnDemand, OfALanguageModelAreThereInSmallPacks) {
  const test::TemporaryFolder folder;
  ModelConfig config = test::tiny_config();
  config.max_position_embeddings = 100;
  const Pipeline pipeline = test::tiny_pipeline(folder, config, Head::kMaskedLm, 0);
  MadeSequences sequences(100, 100);
  SequencePlan plan = sequences.plan();
  const std::vector<size_t> row{3};
  plan.rows = [&](size_t) { return std::span(row); };
  run_plan(pipeline.model, plan, 1000000);
  EXPECT_EQ(sequences.most(), kMaskedPackTokens / 100);
  EXPECT_EQ(sequences.taken(), 100u);
}

TEST(SequencesOnDemand, AreThereInPacksAsSmallAsTheirPlanSays) {
  const test::TemporaryFolder folder;
  const Pipeline pipeline = test::tiny_pipeline(folder, Head::kNone, {}, 0);
  MadeSequences sequences(20, 7);
  SequencePlan plan = sequences.plan();
  plan.layer = 1;
  plan.most_in_pack = 3;
  run_plan(pipeline.model, plan, 1000);
  EXPECT_EQ(sequences.most(), 3u);
  EXPECT_EQ(sequences.taken(), 20u);
}

}  // namespace
}  // namespace deberta::packer_test
