// Which samples a step of fine-tuning has, and how they lie in a pack.
#include "train/data/task_batches.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "deberta/error.h"
#include "support/expect_error.h"

namespace deberta::train::task_batches_test {
namespace {

// Sample n is the text [n, n + 1000] with a second text of one token.
TaskSamples numbered(size_t count) {
  TaskSamples samples{.loss = TaskLoss::kClass, .labels = {"a", "b"}};
  for (int32_t n = 0; n < static_cast<int32_t>(count); ++n) {
    TaskSample sample;
    sample.sequences = {{{n, n + 1000}, 1}};
    sample.label = n % 2;
    samples.samples.push_back(sample);
  }
  return samples;
}

std::vector<int32_t> firsts(const std::vector<TaskBatch>& batches) {
  std::vector<int32_t> ids;
  for (const TaskBatch& batch : batches) {
    for (size_t b = 0; b < batch.input.sequences(); ++b)
      ids.push_back(batch.input.ids_T[static_cast<size_t>(batch.input.starts[b])]);
  }
  return ids;
}

TEST(TaskBatches, AnEpochIsEverySampleOnceInAnOrderOfItsOwn) {
  const TaskSamples samples = numbered(21);
  const TaskBatches batches(samples, {.seed = 5, .samples_per_step = 8});
  ASSERT_EQ(batches.steps_per_epoch(), 3);
  std::vector<std::vector<int32_t>> epochs(2);
  for (int64_t step = 0; step < 6; ++step) {
    const std::vector<int32_t> ids = firsts(batches.make(step));
    EXPECT_EQ(ids.size(), step % 3 == 2 ? 5u : 8u);
    std::ranges::copy(ids, std::back_inserter(epochs[static_cast<size_t>(step / 3)]));
  }
  EXPECT_NE(epochs[0], epochs[1]);
  for (std::vector<int32_t>& ids : epochs) {
    std::ranges::sort(ids);
    for (int32_t n = 0; n < 21; ++n) EXPECT_EQ(ids[static_cast<size_t>(n)], n);
  }
  const TaskBatches reseeded(samples, {.seed = 6, .samples_per_step = 8});
  EXPECT_NE(firsts(batches.make(0)), firsts(reseeded.make(0)));
}

TEST(TaskBatches, PartsOfAStepAreTheSameSamplesAndCountTheirSequences) {
  const TaskSamples samples = numbered(21);
  const TaskBatches whole(samples, {.samples_per_step = 8}), parts(samples, {.samples_per_step = 8, .accumulation = 4});
  for (int64_t step = 0; step < 3; ++step) EXPECT_EQ(firsts(whole.make(step)), firsts(parts.make(step)));
  const std::vector<TaskBatch> last = parts.make(2);
  ASSERT_EQ(last.size(), 3u);
  EXPECT_EQ(last[1].input.first_sequence, 2u);
  EXPECT_EQ(last[2].input.first_sequence, 4u);
  EXPECT_ERROR((TaskBatches(samples, {.samples_per_step = 8, .accumulation = 3})), kUsage,
               "expected a divisor of the batch of 8 samples, got 3");
}

TEST(TaskBatches, WeightsGoWithTheirSamples) {
  TaskSamples samples = numbered(21);
  samples.has_weights = true;
  for (TaskSample& sample : samples.samples) sample.weight = 1 + static_cast<float>(sample.sequences[0].ids[0]);
  for (const TaskBatch& batch : TaskBatches(samples, {.samples_per_step = 8, .accumulation = 2}).make(1)) {
    ASSERT_EQ(batch.weights_B.size(), 4u);
    for (size_t b = 0; b < 4; ++b)
      EXPECT_EQ(batch.weights_B[b],
                1 + static_cast<float>(batch.input.ids_T[static_cast<size_t>(batch.input.starts[b])]));
  }
  samples.has_weights = false;
  EXPECT_TRUE(TaskBatches(samples, {}).make(0)[0].weights_B.empty());
}

TEST(TaskBatches, SamplesArePackedOneAfterTheOther) {
  TaskSample first, second;
  first.sequences = {{{1, 7, 8, 2}, 2}, {{1, 9, 2}, 3}};
  first.label = 1;
  second.sequences = {{{1, 5, 2}, 3}, {{1, 6, 6, 2}, 4}, {{1, 4, 2}, 3}};
  second.label = 2;
  const TaskBatch batch = pack_samples(TaskLoss::kChoice, {&first, &second}, 3);
  EXPECT_EQ(batch.input.starts, (std::vector<int32_t>{0, 4, 7, 10, 14, 17}));
  EXPECT_EQ(batch.input.type_ids_T, (std::vector<int32_t>{0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(batch.questions, (std::vector<int32_t>{0, 2, 5}));
  EXPECT_EQ(batch.right_Q, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(batch.input.longest, 4);
  EXPECT_EQ(batch.input.first_sequence, 3u);
}

TEST(TaskBatches, PlacesInASequenceBecomeRowsOfThePack) {
  TaskSample first, second;
  first.sequences = {{{1, 7, 8, 2}, 4}};
  second.sequences = {{{1, 5, 2}, 3}};
  first.tags = {{1, 4}, {2, 5}};
  second.tags = {{1, 6}};
  const TaskBatch tags = pack_samples(TaskLoss::kTokens, {&first, &second}, 0);
  EXPECT_EQ(tags.input.rows_P, (std::vector<int32_t>{1, 2, 5}));
  EXPECT_EQ(tags.input.labels_P, (std::vector<int32_t>{4, 5, 6}));
  first.first = 1;
  first.last = 2;
  const TaskBatch spans = pack_samples(TaskLoss::kSpan, {&first, &second}, 0);
  EXPECT_EQ(spans.first_B, (std::vector<int32_t>{1, 4}));
  EXPECT_EQ(spans.last_B, (std::vector<int32_t>{2, 4}));
  first.mentions = {{{1, 2}, true}};
  second.mentions = {{{1}, false}};
  const TaskBatch mentions = pack_samples(TaskLoss::kMention, {&first, &second}, 0);
  EXPECT_EQ(mentions.mentions, (std::vector<int32_t>{0, 2, 3}));
  EXPECT_EQ(mentions.mention_rows, (std::vector<int32_t>{1, 2, 5}));
  EXPECT_EQ(mentions.mention_sequences_M, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(mentions.right_M, (std::vector<float>{1, 0}));
}

}  // namespace
}  // namespace deberta::train::task_batches_test
