// Figures of orders of documents, by hand.
#include "metrics/order_evaluation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.h"

namespace deberta::order_evaluation_test {
namespace {

using Numbers = std::vector<double>;

TEST(OrderEvaluation, OfEqualScoresTheLeastRelevantComesFirst) {
  EXPECT_EQ(relevance_by_score({{2, 0, 1}, {0.5, 3, 1}}), (Numbers{0, 1, 2}));
  EXPECT_EQ(relevance_by_score({{1, 0, 1, 0}, {7, 7, 8, 7}}), (Numbers{1, 0, 0, 1}));
}

TEST(OrderEvaluation, NdcgIsTheGainAsAShareOfTheBestOrders) {
  const double got = 1 / std::log2(3) + 3 / std::log2(5), best = 3 + 1 / std::log2(3);
  EXPECT_NEAR(ndcg(Numbers{0, 1, 0, 3}, 10), got / best, 1e-12);
  EXPECT_NEAR(ndcg(Numbers{0, 1, 0, 3}, 2), 1 / std::log2(3) / best, 1e-12);
  EXPECT_EQ(ndcg(Numbers{3, 1, 0}, 10), 1);
}

TEST(OrderEvaluation, TheReciprocalRankIsThatOfTheFirstRelevantOne) {
  EXPECT_EQ(reciprocal_rank(Numbers{0, 0.5, 1}, 10), 0.5);
  EXPECT_EQ(reciprocal_rank(Numbers{0, 0, 1}, 3), 1.0 / 3);
  EXPECT_EQ(reciprocal_rank(Numbers{0, 0, 1}, 2), 0);
}

TEST(OrderEvaluation, PrecisionIsThatAtEachRelevantOne) {
  EXPECT_NEAR(precision_by_rank(Numbers{1, 0, 2, 1}), (1 + 2.0 / 3 + 3.0 / 4) / 3, 1e-12);
}

TEST(OrderEvaluation, MeansAreOverQueriesWithARelevantDocument) {
  const auto evaluation =
      make_evaluation(std::vector<OrderOutcome>{{{0, 1}, {1, 2}}, {{0, 0}, {1, 2}}, {{1, 0}, {1, 2}}},
                      {"ndcg@10", "mrr@10", "mrr@1", "map"});
  EXPECT_EQ(evaluation->units(), 3u);
  const std::vector<Metric> results = evaluate(*evaluation, {.samples = 0});
  ASSERT_EQ(results.size(), 4u);
  EXPECT_NEAR(*results[0].value, (1 + 1 / std::log2(3)) / 2, 1e-12);
  EXPECT_EQ(*results[1].value, 0.75);
  EXPECT_EQ(*results[2].value, 0.5);
  EXPECT_EQ(*results[3].value, 0.75);
  EXPECT_EQ(results[0].note, "1 of 3 queries have no relevant document and are not counted");
  EXPECT_EQ(results[1].note, "");
}

TEST(OrderEvaluation, WithoutARelevantDocumentNothingIsDefined) {
  const auto evaluation = make_evaluation(std::vector<OrderOutcome>{{{0}, {1}}}, {"map"});
  EXPECT_FALSE(evaluate(*evaluation, {.samples = 5})[0].value);
  EXPECT_ERROR(make_evaluation(std::vector<OrderOutcome>{{{1}, {1}}}, {"ndcg@x"}), kInternal, "unknown metric ndcg@x");
}

}  // namespace
}  // namespace deberta::order_evaluation_test
