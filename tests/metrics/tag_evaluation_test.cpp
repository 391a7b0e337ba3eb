// Entities of valid and broken tag sequences, and what is counted of them.
#include "metrics/tag_evaluation.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace deberta::tag_evaluation_test {
namespace {

std::string entities(std::string_view tags) {
  std::vector<std::string> list;
  while (!tags.empty()) {
    const size_t end = std::min(tags.find(' '), tags.size());
    list.emplace_back(tags.substr(0, end));
    tags.remove_prefix(std::min(end + 1, tags.size()));
  }
  std::string text;
  for (const TaggedEntity& entity : tagged_entities(list, TagSet(list)))
    text += fmt::format("{}{}:{}-{}", text.empty() ? "" : " ", entity.type, entity.first, entity.last);
  return text;
}

TEST(TagEvaluation, RightTags) {
  EXPECT_EQ(entities("B-PER I-PER O B-LOC B-LOC I-LOC"), "PER:0-1 LOC:3-3 LOC:4-5");
  EXPECT_EQ(entities("O O"), "");
  EXPECT_EQ(entities(""), "");
  EXPECT_EQ(entities("B-my-type I-my-type"), "my-type:0-1");
}

TEST(TagEvaluation, TagsThatBreakTheSchemeMeanWhatTheyMust) {
  EXPECT_EQ(entities("I-PER I-PER O I-LOC"), "PER:0-1 LOC:3-3");
  EXPECT_EQ(entities("B-PER I-LOC I-LOC"), "PER:0-0 LOC:1-2");
  EXPECT_EQ(entities("I-PER B-PER I-PER"), "PER:0-0 PER:1-2");
  EXPECT_EQ(entities("B I O I"), "_:0-1 _:3-3");
}

TEST(TagEvaluation, EndsAndSinglesOfOtherSchemes) {
  EXPECT_EQ(entities("B-PER I-PER E-PER S-LOC S-LOC O"), "PER:0-2 LOC:3-3 LOC:4-4");
  EXPECT_EQ(entities("E-PER I-PER"), "PER:0-0 PER:1-1");
}

TEST(TagEvaluation, EntitiesCountWhereTypeAndBothEndsAreRight) {
  const std::vector<TagOutcome> outcomes = {{{"B-PER", "I-PER", "O", "B-LOC"}, {"B-PER", "I-PER", "B-LOC", "B-LOC"}},
                                            {{"B-PER", "I-PER", "O"}, {"B-PER", "O", "O"}},
                                            {{"O"}, {"O"}}};
  const auto metrics = evaluate(*make_evaluation(outcomes, {"f1", "precision", "recall", "accuracy"}), {.samples = 0});
  ASSERT_EQ(metrics.size(), 4u + 8u);
  EXPECT_DOUBLE_EQ(*metrics[0].value, 2 * 2 / (3.0 + 4));
  EXPECT_DOUBLE_EQ(*metrics[1].value, 2 / 4.0);
  EXPECT_DOUBLE_EQ(*metrics[2].value, 2 / 3.0);
  EXPECT_DOUBLE_EQ(*metrics[3].value, 6 / 8.0);
  EXPECT_EQ(metrics[4].name, "precision/LOC");
  EXPECT_DOUBLE_EQ(*metrics[4].value, 0.5);
  EXPECT_EQ(metrics[11].name, "support/PER");
  EXPECT_DOUBLE_EQ(*metrics[11].value, 2);
}

TEST(TagEvaluation, AccuracySaysThatTagsAreOfTwoSchemes) {
  const auto note_of = [](const TagOutcome& outcome) {
    return evaluate(*make_evaluation(std::vector{outcome}, {"accuracy"}), {.samples = 0})[0].note;
  };
  const std::string says = "counts tags by their letters, and the two schemes differ: ";
  EXPECT_EQ(note_of({{"O", "B-PER", "I-PER"}, {"O", "B-PER", "E-PER"}}), says + "E-PER for I-PER");
  EXPECT_EQ(note_of({{"B-PER"}, {"S-PER"}}), says + "S-PER for B-PER");
  EXPECT_EQ(note_of({{"I-PER", "I-PER"}, {"B-PER", "I-PER"}}), says + "B-PER for I-PER");
  EXPECT_EQ(note_of({{"B-PER", "I-PER"}, {"B-PER", "O"}}), "");  // wrong, in one scheme
  EXPECT_EQ(note_of({{"B-PER", "B-LOC"}, {"B-PER", "B-MISC"}}), "");
  EXPECT_EQ(note_of({{"B-PER", "O", "B-LOC"}, {"I-PER", "O", "B-LOC"}}), "");  // one breaks the scheme
}

TEST(TagEvaluation, WithoutAnyEntityTheMetricsAreZero) {
  const auto metrics = evaluate(*make_evaluation(std::vector<TagOutcome>{{{"O"}, {"O"}}}, {"f1", "accuracy"}), {});
  EXPECT_EQ(metrics[0].value, 0);
  EXPECT_EQ(metrics[1].value, 1);
}

}  // namespace
}  // namespace deberta::tag_evaluation_test
