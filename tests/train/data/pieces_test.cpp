// Which pieces belong to the word before them, in SentencePiece and in byte-level vocabularies.
#include "train/data/pieces.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::train::pieces_test {
namespace {

using Words = std::vector<std::string>;

// A text's words as pieces joined by '|', as whole-word masking sees them.
Words words_of(const Tokenizer& tokenizer, const std::string& text) {
  const Pieces pieces = pieces_of(tokenizer);
  Words words;
  for (const int32_t id : tokenizer.encode(text, {.add_special_tokens = false}).ids) {
    const std::string piece(tokenizer.piece(id));
    if (pieces.continues_word_V[static_cast<size_t>(id)] == 0 || words.empty()) {
      words.push_back(piece);
    } else {
      words.back() += "|" + piece;
    }
  }
  return words;
}

Tokenizer sentence_piece(const test::TemporaryFolder& folder) {
  std::filesystem::copy_file(test::fixture("tokenizer/bytes.model"), folder.path("spm.model"));
  return Tokenizer::load(folder.path());
}

TEST(Pieces, WordsOfSentencePieceBeginWithTheMarkOfASpaceOrAreOneMark) {
  const test::TemporaryFolder folder;
  const Words words = words_of(sentence_piece(folder), "unbelievable, houses");
  std::string joined;
  for (const std::string& word : words) joined += word + " ";
  EXPECT_EQ(words.front().substr(0, 3), "\xE2\x96\x81") << joined;
  EXPECT_NE(std::find(words.begin(), words.end(), ","), words.end()) << joined;
  EXPECT_EQ(words.size(), 3u) << joined;
}

TEST(Pieces, WordsOfAByteLevelVocabularyBeginWithASpaceOrAreOneMark) {
  const Words words = words_of(Tokenizer::load(test::fixture("tokenizer/bpe")), "A unbelievable, houses");
  std::string joined;
  for (const std::string& word : words) joined += word + " ";
  ASSERT_EQ(words.size(), 4u) << joined;
  EXPECT_EQ(words[2], ",") << joined;
  EXPECT_EQ(words[1].substr(0, 2), "\xC4\xA0") << joined;
  EXPECT_NE(words[1].find('|'), std::string::npos) << joined;
}

TEST(Pieces, OnlyTheFiveSpecialOnesAreNeverPredicted) {
  const test::TemporaryFolder folder;
  const Tokenizer tokenizer = sentence_piece(folder);
  const Pieces pieces = pieces_of(tokenizer);
  EXPECT_EQ(pieces.size(), tokenizer.size());
  size_t special = 0;
  for (const uint8_t is_special : pieces.is_special_V) special += is_special;
  EXPECT_EQ(special, 5u);
  for (const char* name : {"[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]"}) {
    const auto id = static_cast<size_t>(tokenizer.id_of(name).value());
    EXPECT_EQ(pieces.is_special_V[id], 1) << name;
    EXPECT_EQ(pieces.continues_word_V[id], 0) << name;
  }
}

}  // namespace
}  // namespace deberta::train::pieces_test
