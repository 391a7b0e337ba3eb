// Labels of pieces to entities.
#include "decode/entities.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/expect_error.h"

namespace deberta {
namespace {

const std::vector<std::string> kLabels = {"O", "B-PER", "I-PER", "LOC"};

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

// Logits whose softmax puts almost all weight on one label.
std::vector<float> logits(std::vector<size_t> labels, float height = 20) {
  std::vector<float> rows(6 * kLabels.size(), 0.0f);
  for (size_t t = 0; t < labels.size(); ++t) rows[(t + 1) * kLabels.size() + labels[t]] = height;
  return rows;
}

TEST(FindEntities, SimpleJoinsRunsOfOneKindAndAverages) {
  const auto entities = find_entities(logits({1, 2, 2, 0}), kLabels, encoding(), {});
  ASSERT_EQ(entities.size(), 1u);
  EXPECT_EQ(entities[0].label, "PER");
  EXPECT_EQ(entities[0].chars, (Offset{0, 12}));
  EXPECT_EQ(entities[0].first_token, 1u);
  EXPECT_EQ(entities[0].last_token, 3u);
  EXPECT_NEAR(entities[0].score, 1, 1e-6);
}

TEST(FindEntities, ABeginningEndsTheEntityBeforeIt) {
  const auto entities = find_entities(logits({1, 1, 2, 3}), kLabels, encoding(), {});
  ASSERT_EQ(entities.size(), 3u);
  EXPECT_EQ(entities[0].chars, (Offset{0, 3}));
  EXPECT_EQ(entities[1].chars, (Offset{4, 12}));
  EXPECT_EQ(entities[2].label, "LOC");
}

TEST(FindEntities, NoneKeepsEveryPieceWithItsOwnLabel) {
  const auto entities = find_entities(logits({1, 2, 2, 0}), kLabels, encoding(), {Aggregation::kNone, {}});
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
  const auto entities = find_entities(logits({1, 3, 3, 0}), kLabels, e, {});
  ASSERT_EQ(entities.size(), 1u);
  EXPECT_EQ(entities[0].label, "LOC");  // two of three
  EXPECT_EQ(entities[0].chars, (Offset{0, 1}));
  EXPECT_EQ(entities[0].last_token, 3u);
  EXPECT_NEAR(entities[0].score, 2.0 / 3, 1e-6);
  EXPECT_EQ(find_entities(logits({1, 3, 3, 0}), kLabels, e, {Aggregation::kNone, {}}).size(), 4u);
}

TEST(FindEntities, WordsTakeTheirFirstMeanOrMostConfidentPiece) {
  std::vector<float> rows = logits({0, 2, 3, 0}, 1);  // the word's pieces: I-PER, then LOC with a higher score
  rows[3 * kLabels.size() + 3] = 3;
  const auto kind = [&](Aggregation aggregation) {
    const auto entities = find_entities(rows, kLabels, encoding(), {aggregation, {"O"}});
    EXPECT_EQ(entities.size(), 1u);
    EXPECT_EQ(entities.at(0).chars, (Offset{4, 12}));
    return entities.at(0).label;
  };
  EXPECT_EQ(kind(Aggregation::kFirst), "PER");
  EXPECT_EQ(kind(Aggregation::kMax), "LOC");
  EXPECT_EQ(kind(Aggregation::kAverage), "LOC");
}

TEST(FindEntities, ANonFiniteLogitIsAnError) {
  auto rows = logits({0, 0, 0, 0});
  rows[4] = std::numeric_limits<float>::infinity();
  EXPECT_ERROR(find_entities(rows, kLabels, encoding(), {}), kNotFinite, "infinite");
}

}  // namespace
}  // namespace deberta
