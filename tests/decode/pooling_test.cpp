// Pooling token vectors into one, and label names of NLI models.
#include "decode/pooling.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace deberta::pooling_test {
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

TEST(Cosine, IsOfDirectionsAlone) {
  const std::vector<float> a{3, 4}, b{8, 6}, none{0, 0}, opposite{-30, -40};
  EXPECT_FLOAT_EQ(cosine(a, b), 0.96f);
  EXPECT_EQ(cosine(a, a), 1);
  EXPECT_EQ(cosine(a, opposite), -1);
  EXPECT_EQ(cosine(a, none), 0);
}

}  // namespace
}  // namespace deberta::pooling_test
