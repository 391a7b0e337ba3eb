// Tags of words, from the words and their pieces.
#include "decode/word_tags.h"

#include <gtest/gtest.h>

namespace deberta::word_tags_test {
namespace {

Entity piece(const char* label, uint32_t begin, uint32_t end) {
  return {label, 1, 0, 0, {begin, end}, {begin, end}};
}

std::vector<std::string> tags(const std::vector<Entity>& pieces) {
  return word_tags(places_of({"Ada", "of", "Rome"}), pieces);
}

TEST(WordTags, AWordHasTheLabelOfItsFirstPiece) {
  EXPECT_EQ(tags({piece("B-PER", 0, 2), piece("X", 2, 3), piece("O", 4, 6), piece("B-LOC", 7, 9), piece("Y", 9, 11)}),
            (std::vector<std::string>{"B-PER", "O", "B-LOC"}));
}

TEST(WordTags, TheMarkOfAWordsBeginIsItsFirstPiece) {
  EXPECT_EQ(tags({piece("B-PER", 0, 0), piece("X", 0, 3), piece("O", 4, 6), piece("B-LOC", 7, 7), piece("Y", 7, 11)}),
            (std::vector<std::string>{"B-PER", "O", "B-LOC"}));
}

TEST(WordTags, OrThatOfItsMostConfidentPiece) {
  std::vector<Entity> pieces{piece("B-X", 0, 2), piece("B-Y", 2, 3), piece("O", 4, 5), piece("I-X", 5, 6)};
  pieces[1].score = 2;
  EXPECT_EQ(word_tags(places_of({"Ada", "of", "Rome"}), pieces, WordLabel::kMostConfident),
            (std::vector<std::string>{"B-Y", "O", "O"}));
}

TEST(WordTags, AWordWithoutPiecesIsO) {
  EXPECT_EQ(tags({piece("B-PER", 0, 3)}), (std::vector<std::string>{"B-PER", "O", "O"}));
  EXPECT_EQ(tags({piece("B-LOC", 7, 11)}), (std::vector<std::string>{"O", "O", "B-LOC"}));
  EXPECT_EQ(tags({}), (std::vector<std::string>{"O", "O", "O"}));
}

}  // namespace
}  // namespace deberta::word_tags_test
