// Logits to labels.
#include "decode/classification.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/expect_error.h"

namespace deberta::classification_test {
namespace {

TEST(ScoreFunctionOf, FollowsProblemTypeThenTheNumberOfLabels) {
  ModelConfig config;
  EXPECT_EQ(score_function_of(config, 3), ScoreFunction::kSoftmax);
  EXPECT_EQ(score_function_of(config, 1), ScoreFunction::kSigmoid);
  config.problem_type = ProblemType::kRegression;
  EXPECT_EQ(score_function_of(config, 1), ScoreFunction::kNone);
  config.problem_type = ProblemType::kMultiLabel;
  EXPECT_EQ(score_function_of(config, 3), ScoreFunction::kSigmoid);
  config.problem_type = ProblemType::kSingleLabel;
  EXPECT_EQ(score_function_of(config, 2), ScoreFunction::kSoftmax);
  EXPECT_EQ(score_function_of(config, 1), ScoreFunction::kSigmoid);
}

TEST(ScoreFunctionOf, ASentenceTransformersActivationWins) {
  ModelConfig config;
  config.sentence_transformers_activation = "Identity";
  EXPECT_EQ(score_function_of(config, 1), ScoreFunction::kNone);
  config.problem_type = ProblemType::kSingleLabel;
  config.sentence_transformers_activation = "Sigmoid";
  EXPECT_EQ(score_function_of(config, 3), ScoreFunction::kSigmoid);
  config.sentence_transformers_activation = "Tanh";
  EXPECT_EQ(score_function_of(config, 1), ScoreFunction::kTanh);
  config.sentence_transformers_activation = "Softmax";
  EXPECT_EQ(score_function_of(config, 3), ScoreFunction::kSoftmax);
  config.sentence_transformers_activation = "torch.nn.ReLU";
  EXPECT_ERROR(score_function_of(config, 3), kUnsupported, "torch.nn.ReLU is not computed here");
}

TEST(ScoresOfLogits, SoftmaxSubtractsTheLargest) {
  const float logits[] = {88, -104, 1000};
  const auto scores = scores_of_logits(logits, ScoreFunction::kSoftmax);
  EXPECT_EQ(scores[2], 1.0f);
  EXPECT_EQ(scores[0], 0.0f);
  const float pair[] = {1, 2};
  EXPECT_FLOAT_EQ(scores_of_logits(pair, ScoreFunction::kSoftmax)[1], 0.73105858f);
}

TEST(ScoresOfLogits, SigmoidIsPerLabelAndNoneIsTheLogit) {
  const float logits[] = {0, -60, 40};
  const auto sigmoid = scores_of_logits(logits, ScoreFunction::kSigmoid);
  EXPECT_EQ(sigmoid[0], 0.5f);
  EXPECT_GT(sigmoid[1], 0.0f);
  EXPECT_EQ(sigmoid[2], 1.0f);
  EXPECT_EQ(scores_of_logits(logits, ScoreFunction::kNone)[1], -60.0f);
  const float single[] = {-0.5F};
  EXPECT_FLOAT_EQ(scores_of_logits(single, ScoreFunction::kTanh)[0], std::tanh(-0.5F));
}

TEST(ScoresOfLogits, ANonFiniteLogitIsAnErrorNotANumber) {
  const float nan[] = {0, std::numeric_limits<float>::quiet_NaN()};
  EXPECT_ERROR(scores_of_logits(nan, ScoreFunction::kSoftmax), kNotFinite, "NaN");
  const float infinite[] = {std::numeric_limits<float>::infinity()};
  EXPECT_ERROR(scores_of_logits(infinite, ScoreFunction::kNone), kNotFinite, "infinite");
}

TEST(LabelsOfAnswer, ScoresOfARegressionModelStandInItsOrder) {
  ModelConfig config;
  config.labels = {"a", "b", "c"};
  const float scores[] = {0.25f, 3, -1};
  EXPECT_EQ(labels_of_answer(scores, config, 0).size(), 1u);
  config.problem_type = ProblemType::kRegression;
  const auto all = labels_of_answer(scores, config, 0);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].label, "a");
  EXPECT_EQ(all[2].score, -1);
  EXPECT_EQ(labels_of_answer(scores, config, 2)[0].label, "b") << "the highest, where that is asked";
  config.problem_type = ProblemType::kMultiLabel;
  EXPECT_EQ(labels_of_answer(scores, config, 0)[0].label, "b");
  EXPECT_EQ(shown_labels(config, 3, 0), 3u);
  EXPECT_EQ(shown_labels(config, 3, 9), 3u);
}

TEST(RankLabels, BestFirstTiesInLabelOrder) {
  const float scores[] = {0.25f, 0.5f, 0.25f};
  const auto all = rank_labels(scores, {"a", "b"}, 0);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].label, "b");
  EXPECT_EQ(all[1].label, "a");
  EXPECT_EQ(all[2].label, "LABEL_2");
  EXPECT_EQ(rank_labels(scores, {}, 1).size(), 1u);
  EXPECT_EQ(rank_labels(scores, {}, 9).size(), 3u);
}

}  // namespace
}  // namespace deberta::classification_test
