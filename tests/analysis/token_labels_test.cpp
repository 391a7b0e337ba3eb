// Labels without marks, and tokens by the words that they spell.
#include "analysis/token_labels.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tiny_pipeline.h"

namespace deberta::token_labels_test {
namespace {

class TokenLabels : public testing::Test {
 protected:
  const test::TemporaryFolder folder_;
  const Pipeline pipeline_ = test::tiny_pipeline(folder_, Head::kNone, {}, 0);
  const Tokenizer& tokenizer_ = pipeline_.tokenizer;

  // Where the token of the word begins in its text.
  size_t begin_of(const std::string& text, const std::string& word) const {
    const Encoding encoding = tokenizer_.encode(text);
    return encoding.bytes[find_token(tokenizer_, encoding, {text, {}}, word, "query")].begin;
  }
};

TEST_F(TokenLabels, LoseTheMarkOfAWordStartOrAreADotWhereNothingIsLeft) {
  EXPECT_EQ(labels_of({"\u2581cat", "s", "\u2581", "\u0120dog", "[CLS]"}),
            (std::vector<std::string>{"cat", "s", "\u00B7", "dog", "[CLS]"}));
}

TEST_F(TokenLabels, AWordIsFoundWhereItFirstStandsBetweenEdgesOfTokens) {
  EXPECT_EQ(begin_of("the cat and the cat", "cat"), 4u);
  EXPECT_EQ(begin_of("the cat and the mat.", "mat"), 16u);
  EXPECT_EQ(begin_of("with it", "it"), 5u) << "inside a piece of another word there is no edge";
  EXPECT_EQ(begin_of("goodness me", "goodness"), 0u);
}

TEST_F(TokenLabels, ASpecialTokenIsFoundByItsPiece) {
  const Encoding encoding = tokenizer_.encode("a cat");
  EXPECT_EQ(find_token(tokenizer_, encoding, {"a cat", {}}, "[CLS]", "query"), 0u);
  EXPECT_EQ(find_token(tokenizer_, encoding, {"a cat", {}}, "[SEP]", "query"), encoding.size() - 1);
}

TEST_F(TokenLabels, AWordOfTheSecondTextIsFoundThere) {
  const Encoding encoding = tokenizer_.encode_pair("a cat", "the dog");
  const size_t token = find_token(tokenizer_, encoding, {"a cat", "the dog"}, "dog", "key");
  EXPECT_EQ(encoding.type_ids[token], 1);
  EXPECT_EQ(encoding.bytes[token].begin, 4u);
}

TEST_F(TokenLabels, AWordThatTheTextLacksIsRefused) {
  const Encoding encoding = tokenizer_.encode("a cat");
  EXPECT_ERROR(find_token(tokenizer_, encoding, {"a cat", {}}, "dog", "key"), kInput,
               "key: expected a word or a piece of the text, got \"dog\"");
  EXPECT_ERROR(find_token(tokenizer_, encoding, {"a cat", {}}, "", "key"), kInput, "got \"\"");
}

}  // namespace
}  // namespace deberta::token_labels_test
