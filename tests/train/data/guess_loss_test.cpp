// What guessing costs, by hand.
#include "train/data/guess_loss.h"

#include <gtest/gtest.h>

#include <cmath>

namespace deberta::train::guess_loss_test {
namespace {

TaskSamples samples_of(TaskLoss loss, std::vector<TaskSample> samples, std::vector<std::string> labels = {}) {
  return {.loss = loss, .labels = std::move(labels), .samples = std::move(samples)};
}

TEST(GuessLoss, OfClassesIsTheEntropyOfTheirShares) {
  const TaskSamples samples =
      samples_of(TaskLoss::kClass, {{.label = 0}, {.label = 1}, {.label = 1}, {.label = 1}}, {"a", "b", "never"});
  EXPECT_DOUBLE_EQ(guess_loss(samples), -.25 * std::log(.25) - .75 * std::log(.75));
}

TEST(GuessLoss, OfTagsCountsWords) {
  const TaskSamples samples =
      samples_of(TaskLoss::kTokens, {{.tags = {{1, 0}, {2, 0}}}, {.tags = {{1, 1}, {2, 0}}}}, {"O", "B-PER"});
  EXPECT_DOUBLE_EQ(guess_loss(samples), -.25 * std::log(.25) - .75 * std::log(.75));
}

TEST(GuessLoss, OfScoresIsTheirVariance) {
  EXPECT_DOUBLE_EQ(guess_loss(samples_of(TaskLoss::kScore, {{.values = {1}}, {.values = {3}}, {.values = {5}}})),
                   8.0 / 3);
}

TEST(GuessLoss, OfSeveralScoresIsTheMeanOfTheirVariances) {
  EXPECT_DOUBLE_EQ(guess_loss(samples_of(TaskLoss::kScore, {{.values = {1, 0}}, {.values = {3, 4}}}, {"a", "b"})),
                   (1.0 + 4.0) / 2);
}

TEST(GuessLoss, OfSharesOfClassesIsTheEntropyOfTheirMean) {
  const TaskSamples samples = samples_of(
      TaskLoss::kClass, {{.label = 1, .values = {.25f, .75f}}, {.label = 1, .values = {.25f, .75f}}}, {"a", "b"});
  EXPECT_DOUBLE_EQ(guess_loss(samples), -.25 * std::log(.25) - .75 * std::log(.75));
  EXPECT_EQ(count_classes(samples), (std::vector<double>{.5, 1.5}));
}

TEST(GuessLoss, OfLabelsIsTheMeanOfTheirEntropies) {
  const TaskSamples samples = samples_of(TaskLoss::kLabels, {{.values = {1, 0}}, {.values = {0, 0}}}, {"a", "b"});
  EXPECT_DOUBLE_EQ(guess_loss(samples), std::log(2.0) / 2);
}

TEST(GuessLoss, OfChoicesAndSpansIsThatOfOneAmongAll) {
  const TaskSequence sequence{.ids = {1, 2, 3, 4, 5, 6, 7, 8}};
  EXPECT_DOUBLE_EQ(guess_loss(samples_of(TaskLoss::kChoice, {{.sequences = {sequence, sequence, sequence, sequence}}})),
                   std::log(4.0));
  EXPECT_DOUBLE_EQ(guess_loss(samples_of(TaskLoss::kSpan, {{.sequences = {sequence}}})), std::log(8.0));
}

TEST(GuessLoss, OfMentionsCountsThem) {
  const TaskSample sample{.mentions = {{{1}, true}, {{2}, false}, {{3}, false}, {{4}, false}}};
  EXPECT_DOUBLE_EQ(guess_loss(samples_of(TaskLoss::kMention, {sample})), -.25 * std::log(.25) - .75 * std::log(.75));
}

}  // namespace
}  // namespace deberta::train::guess_loss_test
