// What is counted of texts with entities: exact places and labels, overall and by label.
#include "metrics/entity_evaluation.h"

#include <gtest/gtest.h>

namespace deberta::entity_evaluation_test {
namespace {

double value(const std::vector<Metric>& metrics, const std::string& name) {
  for (const Metric& metric : metrics) {
    if (metric.name == name) return metric.value.value_or(-1);
  }
  ADD_FAILURE() << "no metric " << name;
  return -1;
}

// One right, one with another end, one with another label, one missed, one too many.
const std::vector<EntityOutcome> kOutcomes = {
    {{{0, 3, "person"}, {4, 8, "city"}, {10, 12, "city"}}, {{0, 3, "person"}, {4, 7, "city"}, {10, 12, "person"}}},
    {{{0, 1, "city"}}, {}},
    {{}, {{5, 6, "river"}}},
};

TEST(EntityEvaluation, AnEntityIsRightWithItsPlaceAndLabel) {
  const auto metrics = evaluate(*make_evaluation(kOutcomes, {"f1", "precision", "recall"}), {.samples = 0});
  ASSERT_EQ(metrics.size(), 3u + 3 * 4);
  EXPECT_DOUBLE_EQ(value(metrics, "precision"), 1 / 4.0);
  EXPECT_DOUBLE_EQ(value(metrics, "recall"), 1 / 4.0);
  EXPECT_DOUBLE_EQ(value(metrics, "f1"), 2 / 8.0);
  EXPECT_DOUBLE_EQ(value(metrics, "precision/person"), 1 / 2.0);
  EXPECT_DOUBLE_EQ(value(metrics, "recall/person"), 1);
  EXPECT_DOUBLE_EQ(value(metrics, "f1/city"), 0);
  EXPECT_DOUBLE_EQ(value(metrics, "support/city"), 3);
  EXPECT_DOUBLE_EQ(value(metrics, "support/river"), 0);
  EXPECT_EQ(metrics[3].name, "precision/city") << "labels are sorted";
}

TEST(EntityEvaluation, OverlappingEntitiesCountEachByItself) {
  const std::vector<LabelledSpan> nested = {{0, 3, "city"}, {0, 8, "place"}, {0, 8, "region"}};
  const auto metrics = evaluate(*make_evaluation({{nested, nested}}, {"f1"}), {.samples = 0});
  EXPECT_DOUBLE_EQ(value(metrics, "f1"), 1);
}

TEST(EntityEvaluation, SamplesAreDrawnFromTexts) {
  const auto evaluation = make_evaluation(kOutcomes, {"f1"});
  EXPECT_EQ(evaluation->units(), 3u);
  const std::vector<uint32_t> twice = {0, 0};
  EXPECT_DOUBLE_EQ(value(evaluate(*evaluation, twice, {.samples = 0}), "f1"), 4 / 12.0);
}

}  // namespace
}  // namespace deberta::entity_evaluation_test
