// Labels of pieces to entities.
#include "decode/entities.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/expect_error.h"

namespace deberta::entities_test {
namespace {

const std::vector<std::string> kLabels = {"O", "B-PER", "I-PER", "LOC"};
const EntityRules kSimple{.aggregation = Aggregation::kSimple}, kFirst{.aggregation = Aggregation::kFirst};

// "[CLS] Ada Love lace x [SEP]" with `Lovelace` one word of two pieces.
Encoding encoding() {
  Encoding e;
  e.ids = {1, 10, 11, 12, 13, 2};
  e.type_ids.assign(6, 0);
  e.chars = {{0, 0}, {0, 3}, {4, 8}, {8, 12}, {13, 14}, {0, 0}};
  e.bytes = e.chars;
  e.words = {-1, 0, 1, 1, 2, -1};
  e.is_special = {1, 0, 0, 0, 0, 1};
  return e;
}

std::vector<Entity> found_in(const std::vector<float>& logits_TC, const std::vector<std::string>& labels,
                             const Encoding& encoding, const EntityRules& rules) {
  return find_entities(logits_TC, labels, tags_of(labels), encoding, rules);
}

// Logits whose softmax puts almost all weight on one label.
std::vector<float> logits(std::vector<size_t> labels, float height = 20) {
  std::vector<float> rows(6 * kLabels.size(), 0.0f);
  for (size_t t = 0; t < labels.size(); ++t) rows[(t + 1) * kLabels.size() + labels[t]] = height;
  return rows;
}

TEST(FindEntities, SimpleJoinsRunsOfOneKindAndAverages) {
  const auto entities = found_in(logits({1, 2, 2, 0}), kLabels, encoding(), kSimple);
  ASSERT_EQ(entities.size(), 1u);
  EXPECT_EQ(entities[0].label, "PER");
  EXPECT_EQ(entities[0].chars, (Offset{0, 12}));
  EXPECT_EQ(entities[0].first_token, 1u);
  EXPECT_EQ(entities[0].last_token, 3u);
  EXPECT_NEAR(entities[0].score, 1, 1e-6);
}

TEST(FindEntities, ABeginningEndsTheEntityBeforeIt) {
  const auto entities = found_in(logits({1, 1, 2, 3}), kLabels, encoding(), kSimple);
  ASSERT_EQ(entities.size(), 3u);
  EXPECT_EQ(entities[0].chars, (Offset{0, 3}));
  EXPECT_EQ(entities[1].chars, (Offset{4, 12}));
  EXPECT_EQ(entities[2].label, "LOC");
}

// With labels in lower case the tag is "o", and in some models it is ".".
TEST(FindEntities, OLeavesOutTheTagHoweverTheModelWritesIt) {
  for (const std::string outside : {"o", ".", ""}) {
    const std::vector<std::string> labels = {outside, "b-per", "i-per", "b-loc"};
    for (const EntityRules& rules : {kSimple, kFirst, EntityRules{.aggregation = Aggregation::kNone}}) {
      const auto entities = found_in(logits({0, 1, 2, 0}), labels, encoding(), rules);
      ASSERT_FALSE(entities.empty());
      for (const Entity& entity : entities) EXPECT_NE(entity.label, outside);
    }
  }
}

TEST(FindEntities, NoneKeepsEveryPieceWithItsOwnLabel) {
  const auto entities = found_in(logits({1, 2, 2, 0}), kLabels, encoding(), {Aggregation::kNone, {}});
  ASSERT_EQ(entities.size(), 4u);
  EXPECT_EQ(entities[1].label, "I-PER");
  EXPECT_EQ(entities[3].label, "O");
}

// The byte pieces of a character all have its range: they form one unit with the mean of their scores.
TEST(FindEntities, PiecesOfOneCharacterAreOneEntity) {
  Encoding e = encoding();
  e.chars = {{0, 0}, {0, 1}, {0, 1}, {0, 1}, {1, 2}, {0, 0}};
  e.bytes = {{0, 0}, {0, 4}, {0, 4}, {0, 4}, {4, 5}, {0, 0}};
  e.words = {-1, 0, 0, 0, 0, -1};
  const auto entities = found_in(logits({1, 3, 3, 0}), kLabels, e, kSimple);
  ASSERT_EQ(entities.size(), 1u);
  EXPECT_EQ(entities[0].label, "LOC");  // two of three
  EXPECT_EQ(entities[0].chars, (Offset{0, 1}));
  EXPECT_EQ(entities[0].last_token, 3u);
  EXPECT_NEAR(entities[0].score, 2.0 / 3, 1e-6);
  EXPECT_EQ(found_in(logits({1, 3, 3, 0}), kLabels, e, {Aggregation::kNone, {}}).size(), 4u);
}

TEST(FindEntities, WordsTakeTheirFirstMeanOrMostConfidentPiece) {
  std::vector<float> rows = logits({0, 2, 3, 0}, 1);  // the word's pieces: I-PER, then LOC with a higher score
  rows[3 * kLabels.size() + 3] = 3;
  const auto kind = [&](Aggregation aggregation) {
    const auto entities = found_in(rows, kLabels, encoding(), {aggregation, {"O"}});
    EXPECT_EQ(entities.size(), 1u);
    EXPECT_EQ(entities.at(0).chars, (Offset{4, 12}));
    return entities.at(0).label;
  };
  EXPECT_EQ(kind(Aggregation::kFirst), "PER");
  EXPECT_EQ(kind(Aggregation::kMax), "LOC");
  EXPECT_EQ(kind(Aggregation::kAverage), "LOC");
}

// "[CLS] Ada _Love lace x [SEP]" where the word start of `Love` is a piece of its own, which covers nothing.
Encoding with_mark() {
  Encoding e = encoding();
  e.chars = {{0, 0}, {0, 3}, {4, 4}, {4, 12}, {13, 14}, {0, 0}};
  e.bytes = e.chars;
  return e;
}

std::string shown(const std::vector<Entity>& entities) {
  std::string text;
  for (const Entity& entity : entities)
    text += entity.label + ":" + std::to_string(entity.bytes.begin) + "-" + std::to_string(entity.bytes.end) + " ";
  return text;
}

TEST(FindEntities, APieceThatCoversNothingIsNoEntity) {
  const Encoding e = with_mark();
  EXPECT_EQ(shown(found_in(logits({0, 1, 0, 0}), kLabels, e, kSimple)), "");
  EXPECT_EQ(shown(found_in(logits({0, 1, 2, 0}), kLabels, e, kSimple)), "PER:4-12 ");
  EXPECT_EQ(shown(found_in(logits({1, 2, 0, 0}), kLabels, e, kSimple)), "PER:0-3 ");
  EXPECT_EQ(shown(found_in(logits({1, 1, 2, 0}), kLabels, e, kSimple)), "PER:0-3 PER:4-12 ");
  EXPECT_EQ(shown(found_in(logits({2, 0, 2, 0}), kLabels, e, kSimple)), "PER:0-12 ");
  EXPECT_EQ(shown(found_in(logits({0, 0, 3, 3}), kLabels, e, kSimple)), "LOC:4-14 ");
  EXPECT_EQ(shown(found_in(logits({0, 1, 0, 0}), kLabels, e, kFirst)),
            "PER:4-12 ");  // as words are labelled in training
  EXPECT_EQ(shown(found_in(logits({0, 0, 1, 0}), kLabels, e, kFirst)), "");
}

TEST(FindEntities, WithoutAggregationItIsAnAnswerLikeAnyPiece) {
  const EntityRules all{.aggregation = Aggregation::kNone, .ignored = {}};
  EXPECT_EQ(shown(found_in(logits({0, 1, 2, 0}), kLabels, with_mark(), all)), "O:0-3 B-PER:4-4 I-PER:4-12 O:13-14 ");
}

TEST(FindEntities, TagsOfEverySchemeBeginAndEndEntities) {
  const std::vector<std::string> labels = {"O", "B-X", "I-X", "E-X", "S-X", "B-O"};
  const auto run = [&](std::vector<size_t> tags) {
    std::vector<float> rows(6 * labels.size(), 0.0f);
    for (size_t t = 0; t < tags.size(); ++t) rows[(t + 1) * labels.size() + tags[t]] = 20;
    return shown(found_in(rows, labels, encoding(), kSimple));
  };
  EXPECT_EQ(run({1, 2, 3, 0}), "X:0-12 ");
  EXPECT_EQ(run({4, 4, 0, 4}), "X:0-3 X:4-8 X:13-14 ");
  EXPECT_EQ(run({1, 3, 3, 0}), "X:0-8 X:8-12 ");
  EXPECT_EQ(run({0, 5, 0, 0}), "O:4-8 ");  // the kind, not the tag
}

TEST(FindEntities, ANonFiniteLogitIsAnError) {
  auto rows = logits({0, 0, 0, 0});
  rows[4] = std::numeric_limits<float>::infinity();
  EXPECT_ERROR(found_in(rows, kLabels, encoding(), kSimple), kNotFinite, "infinite");
}

}  // namespace
}  // namespace deberta::entities_test
