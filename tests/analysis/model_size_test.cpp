// Sizes by part: what they add up to, and what relative terms make of them.
#include "analysis/model_size.h"

#include <gtest/gtest.h>

#include <string>

#include "analysis/explanation.h"
#include "config/published_sizes.h"

namespace deberta::model_size_test {
namespace {

double sum_of_parts(const Json& parts) {
  double sum = 0;
  for (const auto& [name, value] : parts.as_object()) {
    if (name != "total") sum += value.as_number();
  }
  return sum;
}

TEST(ModelSize, PartsAddUpToTheTotal) {
  for (const PublishedSize& size : published_sizes()) {
    const Json all = size_json(model_size(published_config(size), 128));
    for (const char* kind : {"parameters", "flops"}) {
      const Json& parts = *all.find(kind);
      EXPECT_EQ(sum_of_parts(parts), parts.find("total")->as_number()) << size.name << " " << kind;
    }
  }
}

TEST(ModelSize, WithARowForEachDistanceScoresTakeThreeTimesTheProducts) {
  const ModelSize size = model_size(published_config(*find_published_size("v1-base")), 128);
  EXPECT_DOUBLE_EQ(size.score_ratio(), 3);
  const Json all = size_json(size), &flops = *all.find("flops");
  EXPECT_EQ(flops.find("relative")->as_number(), flops.find("attention")->as_number());
  EXPECT_EQ(size.parameters.all() - size.plain_parameters.all(),
            size.parameters.relative_projections + size.parameters.relative_table);
}

TEST(ModelSize, TheHeadIsThatOfTheModel) {
  ModelConfig config = published_config(*find_published_size("v3-base"));
  config.architectures.clear();
  const ModelSize words = model_size(config, 8), labels = model_size(config, facts_of(Head::kSequence), 3, 8);
  EXPECT_EQ(words.parameters.head, model_size(config, facts_of(Head::kMaskedLm), 0, 8).parameters.head);
  EXPECT_EQ(labels.parameters.head, 768 * 768 + 768 + 3 * 768 + 3) << "a pooler and a row for each label";
  EXPECT_EQ(labels.parameters.layers, words.parameters.layers);
}

}  // namespace
}  // namespace deberta::model_size_test
