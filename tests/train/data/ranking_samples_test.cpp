// Queries as samples, and which of their documents a step has.
#include "train/data/ranking_samples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "support/expect_error.h"
#include "support/paths.h"
#include "train/data/guess_loss.h"
#include "train/data/task_batches.h"

namespace deberta::train::ranking_samples_test {
namespace {

using Documents = std::vector<size_t>;

class RankingSamples : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::copy_file(test::fixture("tokenizer/bytes.model"), folder_.path("spm.model"));
    tokenizer_.emplace(Tokenizer::load(folder_.path()));
  }
  TaskSamples read(const std::string& text, RankingLoss loss, const ReadingHooks& hooks = {}) {
    test::write_text(folder_.path("train.jsonl"), text);
    TaskReading reading{.ranking = {.loss = loss}};
    reading.input.files = {folder_.path("train.jsonl")};
    return *read_task_samples(find_task("ranking"), reading, *tokenizer_, hooks);
  }

  test::TemporaryFolder folder_;
  std::optional<Tokenizer> tokenizer_;
};

constexpr const char* kTriple = "{\"query\": \"q\", \"positive\": \"a b\", \"negative\": \"c\", \"margin\": 2}\n";

TEST_F(RankingSamples, AQueryIsASampleWithASequenceForEachDocument) {
  const TaskSamples samples = read(kTriple, RankingLoss::kMarginMse);
  EXPECT_EQ(samples.loss, TaskLoss::kRanking);
  ASSERT_EQ(samples.samples.size(), 1u);
  const TaskSample& sample = samples.samples[0];
  ASSERT_EQ(sample.sequences.size(), 2u);
  const Encoding pair = tokenizer_->encode_pair("q", "a b");
  EXPECT_EQ(sample.sequences[0].ids, pair.ids);
  EXPECT_EQ(sample.values, (std::vector<float>{1, 0}));
  EXPECT_EQ(sample.teacher_scores, (std::vector<float>{2, 0}));
  EXPECT_TRUE(read(kTriple, RankingLoss::kPairwise).samples[0].teacher_scores.empty());
}

TEST_F(RankingSamples, QueriesThatTeachNoOrderAreCountedAndLeftOut) {
  const std::string text =
      "{\"query\": \"q\", \"documents\": [\"a\", \"b\"], \"labels\": [0, 0]}\n"
      "{\"query\": \"r\", \"documents\": [\"a\", \"b\"], \"labels\": [1, 1]}\n"
      "{\"query\": \"s\", \"documents\": [\"a\"], \"labels\": [1]}\n"
      "{\"query\": \"t\", \"documents\": [\"a\", \"b\"], \"labels\": [0, 1]}\n"
      "{\"query\": \"u\", \"documents\": [\"a\", \"b\"]}\n";
  for (const auto& [loss, learned] : {std::pair{RankingLoss::kPointwise, 4u}, std::pair{RankingLoss::kPairwise, 1u},
                                      std::pair{RankingLoss::kListwise, 2u}}) {
    const TaskSamples samples = read(text, loss);
    EXPECT_EQ(samples.samples.size(), learned);
    EXPECT_EQ(samples.unordered, 4 - learned);
    EXPECT_EQ(samples.unlabelled, 1u);
    EXPECT_EQ(samples.examples, 5u);
  }
  EXPECT_ERROR(read(text.substr(0, text.find('\n') + 1), RankingLoss::kPairwise), kInput,
               "expected queries with documents that are not equally relevant, got none of 1");
}

TEST_F(RankingSamples, LabelsThatALossDoesNotLearnAreBadRows) {
  const std::string graded = "{\"query\": \"q\", \"documents\": [\"a\", \"b\"], \"labels\": [0, 3]}\n";
  EXPECT_ERROR(
      read(graded, RankingLoss::kPointwise), kInput,
      "train.jsonl:1: label: expected at most 1 for the pointwise loss, got 3; ranking_loss=pairwise learns any");
  EXPECT_ERROR(read(graded, RankingLoss::kMarginMse), kInput,
               "train.jsonl:1: expected a margin, or a score of each document, got neither");
  const TaskSamples rest = read(graded + kTriple, RankingLoss::kPointwise, {.bad_rows = BadRows::kSkip});
  EXPECT_EQ(rest.bad, 1u);
  EXPECT_EQ(rest.samples.size(), 1u);
}

// ---- documents of a step

constexpr uint64_t kKey = 77;

TEST(DrawDocuments, AllOfThemWhereTheyFit) {
  const std::vector<float> relevance = {0, 1, 0};
  EXPECT_EQ(draw_documents(relevance, 3, kKey, 0, 0), (Documents{0, 1, 2}));
  EXPECT_EQ(draw_documents(relevance, 0, kKey, 0, 0), (Documents{0, 1, 2}));
}

TEST(DrawDocuments, KeepsRelevantOnesAndDrawsTheOthersEvenly) {
  std::vector<float> relevance(20, 0);
  relevance[7] = 1;
  relevance[13] = 0.5f;
  std::map<size_t, int> times;
  constexpr uint32_t kEpochs = 2000;
  for (uint32_t epoch = 0; epoch < kEpochs; ++epoch) {
    const Documents drawn = draw_documents(relevance, 5, kKey, epoch, 3);
    ASSERT_EQ(drawn.size(), 5u);
    EXPECT_TRUE(std::ranges::is_sorted(drawn));
    for (const size_t d : drawn) ++times[d];
  }
  EXPECT_EQ(times[7], 2000);
  EXPECT_EQ(times[13], 2000);
  for (size_t d = 0; d < 20; ++d) {  // 3 of 18: 333 expected, deviation 16.7
    if (relevance[d] > 0) continue;
    EXPECT_NEAR(times[d], 333, 70) << d;
  }
}

TEST(DrawDocuments, FollowTheSeedTheEpochAndTheQuery) {
  const std::vector<float> relevance(50, 0);
  const auto draw = [&](uint64_t key, uint32_t epoch, uint32_t sample) {
    return draw_documents(relevance, 10, key, epoch, sample);
  };
  EXPECT_EQ(draw(1, 2, 3), draw(1, 2, 3));
  EXPECT_NE(draw(1, 2, 3), draw(4, 2, 3));
  EXPECT_NE(draw(1, 2, 3), draw(1, 3, 3));
  EXPECT_NE(draw(1, 2, 3), draw(1, 2, 4));
}

TEST(DrawDocuments, LeaveSomethingToOrder) {
  const std::vector<float> many = {1, 1, 1, 1, 0}, graded = {1, 1, 1, 1, 2};
  for (uint32_t epoch = 0; epoch < 20; ++epoch) {
    EXPECT_EQ(draw_documents(many, 3, kKey, epoch, 0).back(), 4u);
    EXPECT_EQ(draw_documents(graded, 2, kKey, epoch, 0).back(), 4u);
  }
}

TaskSamples queries_of(size_t documents, size_t most, RankingLoss loss = RankingLoss::kPairwise) {
  TaskSamples samples{.loss = TaskLoss::kRanking, .ranking = {loss, most}};
  for (int32_t q = 0; q < 6; ++q) {
    TaskSample& sample = samples.samples.emplace_back();
    for (int32_t d = 0; d < static_cast<int32_t>(documents); ++d) {
      sample.sequences.push_back({std::vector<int32_t>(static_cast<size_t>(2 + d), 100 * q + d), 1});
      sample.values.push_back(d == q ? 1.0f : 0.0f);
      sample.teacher_scores.push_back(static_cast<float>(d));
    }
  }
  return samples;
}

TEST(RankingBatches, HaveTheDocumentsOfEachQueryTogether) {
  const TaskSamples samples = queries_of(3, 8);
  const TaskBatch batch = pack_samples(TaskLoss::kRanking, {&samples.samples[1], &samples.samples[0]}, 0);
  EXPECT_EQ(batch.questions, (std::vector<int32_t>{0, 3, 6}));
  EXPECT_EQ(batch.values_BC, (std::vector<float>{0, 1, 0, 1, 0, 0}));
  EXPECT_EQ(batch.teacher_B, (std::vector<float>{0, 1, 2, 0, 1, 2}));
  EXPECT_TRUE(batch.right_Q.empty());
}

TEST(RankingBatches, HaveAtMostSoManyDocumentsDrawnAnewInEachEpoch) {
  const TaskSamples samples = queries_of(12, 4);
  const TaskBatches whole(samples, {.seed = 5, .samples_per_step = 6}),
      parts(samples, {.seed = 5, .samples_per_step = 6, .accumulation = 3});
  const TaskBatch first = whole.make(0)[0], second = whole.make(1)[0];
  EXPECT_EQ(first.input.sequences(), 24u);
  EXPECT_EQ(std::ranges::count(first.values_BC, 1.0f), 6);
  std::vector<int32_t> of_first = first.input.ids_T, of_second = second.input.ids_T;
  std::ranges::sort(of_first);  // the order of the queries differs too
  std::ranges::sort(of_second);
  EXPECT_NE(of_first, of_second);
  std::vector<int32_t> ids;
  for (const TaskBatch& part : parts.make(0)) std::ranges::copy(part.input.ids_T, std::back_inserter(ids));
  EXPECT_EQ(ids, first.input.ids_T);
}

TEST(RankingBatches, TheLongestDocumentsAreThoseThatMemoryIsMeasuredWith) {
  const TaskSample longest = with_longest(queries_of(5, 2).samples[0], 2);
  ASSERT_EQ(longest.sequences.size(), 2u);
  EXPECT_EQ(longest.tokens(), 6u + 5u);
  EXPECT_EQ(longest.teacher_scores, (std::vector<float>{4, 3}));
}

TEST(RankingGuess, IsTheLossOfEqualScores) {
  EXPECT_NEAR(guess_loss(queries_of(8, 0, RankingLoss::kPairwise)), std::log(2), 1e-12);
  EXPECT_NEAR(guess_loss(queries_of(8, 0, RankingLoss::kListwise)), std::log(8), 1e-12);
  EXPECT_NEAR(guess_loss(queries_of(8, 4, RankingLoss::kListwise)), std::log(4), 1e-12);
  EXPECT_NEAR(guess_loss(queries_of(8, 0, RankingLoss::kPointwise)), -(std::log(0.125) / 8 + 7 * std::log(0.875) / 8),
              1e-12);
  double sum = 0, pairs = 0;
  for (int q = 0; q < 6; ++q) {
    for (int d = 0; d < 8; ++d) {
      sum += (q - d) * (q - d);
      pairs += d != q;
    }
  }
  EXPECT_NEAR(guess_loss(queries_of(8, 0, RankingLoss::kMarginMse)), sum / pairs, 1e-12);
}

}  // namespace
}  // namespace deberta::train::ranking_samples_test
