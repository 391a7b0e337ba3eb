// Words as \w+(?:[-_]\w+)*|\S of Python's re cuts them.
#include "text/words.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace deberta::words_test {
namespace {

using Words = std::vector<std::string>;

Words words_of(const std::string& text) {
  Words words;
  for (const WordSpan& word : word_spans(text))
    words.push_back(text.substr(word.bytes.begin, word.bytes.end - word.bytes.begin));
  return words;
}

TEST(SplitWords, CutsAtSpacesAndAroundEveryOtherCharacter) {
  EXPECT_EQ(words_of("Ada (1815) wrote, didn't she?"),
            (Words{"Ada", "(", "1815", ")", "wrote", ",", "didn", "'", "t", "she", "?"}));
  EXPECT_EQ(words_of(""), Words{});
  EXPECT_EQ(words_of(" \t\r\n"), Words{});
  EXPECT_EQ(words_of("<<ENT>>"), (Words{"<", "<", "ENT", ">", ">"}));
}

TEST(SplitWords, StopsAfterSoMany) {
  EXPECT_EQ(word_spans("a b c", 2).size(), 2u);
  EXPECT_EQ(word_spans("a b c", 3), word_spans("a b c"));
  EXPECT_TRUE(word_spans("a b c", 0).empty());
}

TEST(SplitWords, JoinsAtSingleHyphensAndUnderscores) {
  EXPECT_EQ(words_of("well-known_name a--b -c d- e-f-g _x_ 1-2"),
            (Words{"well-known_name", "a", "-", "-", "b", "-", "c", "d", "-", "e-f-g", "_x_", "1-2"}));
  EXPECT_EQ(words_of("a-"), (Words{"a", "-"}));
  EXPECT_EQ(words_of("a-_b-"), (Words{"a-_b", "-"}));
}

TEST(SplitWords, KnowsLettersAndNumbersOfEveryScript) {
  EXPECT_EQ(words_of("Gr\u00f6\u00dfe \u00bd\u00b2\u2167"), (Words{"Gr\u00f6\u00dfe", "\u00bd\u00b2\u2167"}));
  EXPECT_EQ(words_of("\u5317\u4eac\u5e02\u3002a"), (Words{"\u5317\u4eac\u5e02", "\u3002", "a"}));
  EXPECT_EQ(words_of("\u0663\u0664"), (Words{"\u0663\u0664"}));
}

// A mark is neither a letter nor a number, so that it stands alone, and so does each part of a picture.
TEST(SplitWords, TakesMarksAndPicturesOneByOne) {
  EXPECT_EQ(words_of("e\u0301a"), (Words{"e", "\u0301", "a"}));
  EXPECT_EQ(words_of("\U0001F469\u200D\U0001F680!"), (Words{"\U0001F469", "\u200D", "\U0001F680", "!"}));
}

TEST(SplitWords, HasTheSpacesOfPython) {
  EXPECT_EQ(words_of("a\u00a0b\u3000c\u2028d\u0085e\x1c"
                     "f"),
            (Words{"a", "b", "c", "d", "e", "f"}));
  EXPECT_EQ(words_of("a\u200bb\x07"), (Words{"a", "\u200b", "b", "\x07"})) << "no spaces";
}

TEST(SplitWords, CountsBytesAndCodePoints) {
  const std::vector<WordSpan> words = word_spans("\u00e9t\u00e9 \U0001F600-x");
  ASSERT_EQ(words.size(), 4u);
  EXPECT_EQ(words[0], (WordSpan{{0, 3}, {0, 5}}));
  EXPECT_EQ(words[1], (WordSpan{{4, 5}, {6, 10}}));
  EXPECT_EQ(words[2], (WordSpan{{5, 6}, {10, 11}}));
  EXPECT_EQ(words[3], (WordSpan{{6, 7}, {11, 12}}));
}

TEST(SplitWords, OfALongTextAreOneWord) {
  const std::string text(100000, 'x');
  EXPECT_EQ(word_spans(text).size(), 1u);
  EXPECT_EQ(word_spans(std::string(100000, '-')).size(), 100000u);
}

}  // namespace
}  // namespace deberta::words_test
