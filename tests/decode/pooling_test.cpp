// Pooling token vectors into one, and label names of NLI models.
#include "decode/pooling.h"

#include <gtest/gtest.h>

#include "decode/entailment.h"
#include "support/expect_error.h"

namespace deberta {
namespace {

TEST(Pool, FirstMeanAndGreatest) {
  const float rows[] = {1, -2, 3, 4};
  EXPECT_EQ(pool(rows, 2, Pooling::kCls), (std::vector<float>{1, -2}));
  EXPECT_EQ(pool(rows, 2, Pooling::kMean), (std::vector<float>{2, 1}));
  EXPECT_EQ(pool(rows, 2, Pooling::kMax), (std::vector<float>{3, 4}));
}

TEST(Normalize, GivesLengthOneAndLeavesZeros) {
  float vector[] = {3, 4};
  normalize(vector);
  EXPECT_FLOAT_EQ(vector[0], 0.6f);
  float zeros[] = {0, 0};
  normalize(zeros);
  EXPECT_EQ(zeros[0], 0.0f);
}

TEST(EntailmentLabels, GoByNameInAnyOrderAndCase) {
  const auto three = find_entailment_labels({"CONTRADICTION", "Neutral", "entailment"}, 3);
  EXPECT_EQ(three.entailment, 2u);
  EXPECT_EQ(three.neutral, 1u);
  EXPECT_EQ(three.contradiction, 0u);
  const auto two = find_entailment_labels({"not_entailment", "entailment"}, 2);
  EXPECT_EQ(two.entailment, 1u);
  EXPECT_FALSE(two.neutral.has_value());
  EXPECT_EQ(two.contradiction, 0u);
}

TEST(EntailmentLabels, NamelessLabelsNeedAMap) {
  EXPECT_ERROR(find_entailment_labels({"LABEL_0", "LABEL_1"}, 2), kTask, "expected a label named entailment");
  EXPECT_EQ(find_entailment_labels({"LABEL_0", "LABEL_1"}, 2, {"entailment", "not_entailment"}).entailment, 0u);
  EXPECT_ERROR(find_entailment_labels({}, 3), kTask, "expected 3 label names, got 0");
}

TEST(Cosine, IsOfDirectionsAlone) {
  const std::vector<float> a{3, 4}, b{8, 6}, none{0, 0}, opposite{-30, -40};
  EXPECT_FLOAT_EQ(cosine(a, b), 0.96f);
  EXPECT_EQ(cosine(a, a), 1);
  EXPECT_EQ(cosine(a, opposite), -1);
  EXPECT_EQ(cosine(a, none), 0);
}

}  // namespace
}  // namespace deberta
