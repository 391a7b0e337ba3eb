// CoNLL columns: sentences, documents, and what is wrong with one of them.
#include "data/conll.h"

#include <gtest/gtest.h>

#include "support/compressed.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::conll_test {
namespace {

ConllReader reader_of(std::string_view text) {
  return ConllReader(LineReader(ByteSource(to_bytes(text), "in")));
}

// One string per sentence: `word/label` of each token; `*` marks the first of a document, `!` a bad one with its
// message.
std::vector<std::string> sentences_of(std::string_view text) {
  ConllReader reader = reader_of(text);
  std::vector<std::string> sentences;
  for (ConllSentence sentence; reader.next(sentence);) {
    std::string shown = sentence.begins_document ? "*" : "";
    if (sentence.error) shown += "!" + std::string(sentence.error->what());
    for (size_t i = 0; i < sentence.tokens(); ++i)
      shown += (i > 0 ? " " : "") + sentence.word(i) + "/" + sentence.label(i);
    sentences.push_back(shown);
  }
  return sentences;
}
using Sentences = std::vector<std::string>;

TEST(Conll, ABlankLineEndsASentence) {
  EXPECT_EQ(sentences_of("EU NNP B-NP B-ORG\nrejects VBZ B-VP O\n\n\n \t\nPeter NNP B-NP B-PER\r\n"),
            (Sentences{"EU/B-ORG rejects/O", "Peter/B-PER"}));
  EXPECT_EQ(sentences_of("a O"), (Sentences{"a/O"}));
  EXPECT_TRUE(sentences_of("").empty());
  EXPECT_TRUE(sentences_of("\n\n").empty());
}

TEST(Conll, ADocumentBeginsAtItsLine) {
  EXPECT_EQ(sentences_of("-DOCSTART- -X- O O\n\na O\n\nb O\n-DOCSTART-\nc O\n\n-DOCSTART- -X-\n"),
            (Sentences{"*a/O", "b/O", "*c/O"}));
}

TEST(Conll, ColumnsAreSeparatedByTabsOrSpaces) {
  EXPECT_EQ(sentences_of("New York\tB-LOC\nis\tO\n"), (Sentences{"New York/B-LOC is/O"}));
  EXPECT_EQ(sentences_of("a   b  O\n"), (Sentences{"a/O"}));
  EXPECT_EQ(sentences_of("# # O\n"), (Sentences{"#/O"}));
}

TEST(Conll, CellsAreReachedByTokenAndColumn) {
  ConllReader reader = reader_of("\nEU NNP B-ORG\nrejects VBZ O\n");
  ConllSentence sentence;
  ASSERT_TRUE(reader.next(sentence));
  EXPECT_EQ(sentence.where, "in:2");
  EXPECT_EQ(sentence.columns, 3u);
  EXPECT_EQ(sentence.tokens(), 2u);
  EXPECT_EQ(sentence.cell(1, 1), "VBZ");
  EXPECT_FALSE(reader.next(sentence));
}

TEST(Conll, WhatIsWrongIsReportedWithItsLineAndTheNextSentenceIsRead) {
  const struct {
    std::string lines, error;
  } cases[] = {{"a\n", "in:3: expected a word and its tag, in 2 to 16 columns separated by blanks, got 1"},
               {"a 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 O\n",
                "in:3: expected a word and its tag, in 2 to 16 columns separated by blanks, got 17"},
               {"a O\nb x O\n", "in:4: expected 2 columns as in the previous line, got 3"},
               {"a O\nb x O\nc\n", "in:4: expected 2 columns as in the previous line, got 3"},
               {"a\t\tO\n", "in:3: column 2 is empty"},
               {"\tO\n", "in:3: column 1 is empty"},
               {"a\t \n", "in:3: column 2 is empty"}};
  for (const auto& bad : cases)
    EXPECT_EQ(sentences_of("x O\n\n" + bad.lines + "\ny O\n"), (Sentences{"x/O", "!" + bad.error, "y/O"})) << bad.lines;
}

TEST(Conll, LinesBeforeASentenceThatBeginWithAHashAreComments) {
  EXPECT_EQ(sentences_of("# sent_id = 1\n# text = a b\na\tO\nb\tO\n\n# id 7\tdomain=en\nc _ _ O\n"),
            (Sentences{"a/O b/O", "c/O"}));
  EXPECT_EQ(sentences_of("# licence\n\n# another\n\na O\n"), (Sentences{"a/O"}));
  EXPECT_EQ(sentences_of("# newdoc id = 3\na\tO\n\nb\tO\n\n# newdoc\n\nc\tO\n"), (Sentences{"*a/O", "b/O", "*c/O"}));
  // Words: as many columns as the tokens.
  EXPECT_EQ(sentences_of("# O\nmetoo O\n\nx O\n\n# O\n\n#nlp B-X\nis O\n"),
            (Sentences{"#/O metoo/O", "x/O", "#/O", "#nlp/B-X is/O"}));
  EXPECT_EQ(sentences_of("a O\n# O\nb O\n"), (Sentences{"a/O #/O b/O"}));
  EXPECT_EQ(sentences_of("#\tO\tO\n\na\tO\tO\n"), (Sentences{"#/O", "a/O"}));
  EXPECT_EQ(sentences_of("# id = 5\na X Y O\n\n# sent_id 17\nb X O\n\n# 17\n\nc O\n"),
            (Sentences{"a/O", "b/O", "c/O"}));
  EXPECT_EQ(sentences_of("a\tO\n# c\nb\tO\n\nc\tO\n"),
            (Sentences{"!in:2: expected columns separated by tabs as in the previous line, got no tab", "c/O"}));
  std::string many;
  for (size_t i = 0; i <= ConllReader::kMaxComments; ++i) many += "#\n";
  EXPECT_EQ(sentences_of(many + "a O\n\nb O\n"),
            (Sentences{"!in:1: expected a word and its tag, in 2 to 16 columns separated by blanks, got 1", "b/O"}));
}

TEST(Conll, AFirstColumnThatCountsTheTokensIsLeftOut) {
  const std::string rest = "\t_\t_\t_\t_\t_\t_\t_\t";
  EXPECT_EQ(sentences_of("# text = I'm in Rome\n1-2\tI'm" + rest + "_\n1\tI" + rest + "O\n2\t'm" + rest + "O\n3\tin" +
                         rest + "O\n3.1\tthe" + rest + "_\n4\tRome" + rest + "B-LOC\n\n1\tYes" + rest + "O\n"),
            (Sentences{"I/O 'm/O in/O Rome/B-LOC", "Yes/O"}));
  EXPECT_EQ(sentences_of("1\tRome" + rest + "B-LOC\n"), (Sentences{"Rome/B-LOC"}));
  EXPECT_EQ(sentences_of("# source\n1\tRome\tB-LOC\n\n1\tHi\tO\n2\t5\tO\n"), (Sentences{"Rome/B-LOC", "Hi/O 5/O"}));
  EXPECT_EQ(
      sentences_of("1\ta\tO\n2\tb\tO\n\nc\td\tO\n\n1\te\tO\n"),
      (Sentences{"a/O b/O",
                 "!in:4: expected the numbers 1, 2, ... of the tokens in the first column, as in the sentences before",
                 "e/O"}));
  for (const char* second : {"3", "1", "0"}) {
    EXPECT_EQ(
        sentences_of("1\ta" + rest + "O\n" + second + "\tb" + rest + "O\n\n1\tc" + rest + "O\n2\td" + rest + "O\n"),
        (Sentences{"!in:1: expected the numbers 1, 2, ... of the tokens in the first column, got others", "c/O d/O"}));
  }
  // Words that are numbers: in files of spaces, of two columns, and where an earlier sentence has decided it.
  EXPECT_EQ(sentences_of("1 CD O\n2 CD O\n"), (Sentences{"1/O 2/O"}));
  EXPECT_EQ(sentences_of("1\tO\n2\tO\n"), (Sentences{"1/O 2/O"}));
  EXPECT_EQ(sentences_of("a\tX\tO\n\n1\tCD\tO\n2\tCD\tO\n"), (Sentences{"a/O", "1/O 2/O"}));
  EXPECT_EQ(sentences_of("2\tCD\tO\n1\tCD\tO\n"), (Sentences{"2/O 1/O"}));
  EXPECT_EQ(
      sentences_of("1\tCD\tO\n\na\tX\tO\n"),
      (Sentences{
          "!in:1: expected a word, got 1, which may be the number of the token; begin the file with a sentence of "
          "several tokens, or leave out the column of numbers",
          "a/O"}));
}

TEST(Conll, InvalidUtf8IsRepaired) {
  EXPECT_EQ(sentences_of("a\xFF O\n"), (Sentences{"a\xEF\xBF\xBD/O"}));
}

TEST(Conll, HasLimits) {
  std::string many;
  for (size_t i = 0; i < ConllReader::kMaxTokens; ++i) many += "a O\n";
  EXPECT_EQ(sentences_of(many)[0].size(), 4 * ConllReader::kMaxTokens - 1);
  EXPECT_EQ(sentences_of(many + "a O\n\nb O"),
            (Sentences{"!in:100001: expected a sentence of at most 100000 tokens; is the blank line after it missing?",
                       "b/O"}));
  const std::string word(size_t{7} << 20, 'x');
  EXPECT_EQ(sentences_of(word + " O\n" + word + " O\n" + word + " O\n\nb O"),
            (Sentences{"!in:3: expected a sentence of at most 16777216 bytes", "b/O"}));
  EXPECT_EQ(sentences_of(word + word + " O\n\nb O"),
            (Sentences{"!in:1: expected a token, got a line of several megabytes", "b/O"}));
}

TEST(Conll, ReadsThePublishedFileWhenItIsThere) {
  const std::string path = test::shared("data/conll2003/test.txt.xz");
  if (path.empty()) GTEST_SKIP() << "needs the shared folder";
  ConllReader reader(LineReader{ByteSource(path)});
  size_t sentences = 0, tokens = 0, documents = 0;
  for (ConllSentence sentence; reader.next(sentence); ++sentences) {
    ASSERT_FALSE(sentence.error) << sentence.error->what();
    EXPECT_EQ(sentence.columns, 4u);
    tokens += sentence.tokens();
    documents += sentence.begins_document;
  }
  EXPECT_EQ(sentences, 3453u);
  EXPECT_EQ(tokens, 46435u);
  EXPECT_EQ(documents, 231u);
}

TEST(Conll, SentencesMayBeJsonLines) {
  const auto read = [](std::string_view text) {
    ConllReader reader(LineReader(ByteSource(to_bytes(text), "in")));
    std::vector<std::string> lines;
    for (ConllSentence sentence; reader.next(sentence);) {
      std::string line = sentence.error ? sentence.error->what() : "";
      for (size_t i = 0; i < sentence.tokens(); ++i) line += sentence.word(i) + "/" + sentence.label(i) + " ";
      lines.push_back(line);
    }
    return lines;
  };
  EXPECT_EQ(read("\n{\"id\": 1, \"tokens\": [\"Ada\", \"lived\"], \"ner_tags\": [\"B-PER\", \"O\"]}\n\n{\"words\": "
                 "[\"a b\"], \"labels\": [\"O\"]}\n"),
            (std::vector<std::string>{"Ada/B-PER lived/O ", "a b/O "}));
  EXPECT_EQ(read("{\"tokens\": [\"a\"], \"tags\": []}\n{\"tokens\": [\"a\"], \"ner_tags\": [3]}\n{\"text\": \"a\"}\nx "
                 "O\n{\"tokens\": [\"b\"], \"tags\": [\"O\"]}"),
            (std::vector<std::string>{"in:1: expected a label for each of the 1 words, got 0",
                                      "in:2: label: expected a text, got 3 (integer); write the names of the labels, "
                                      "such as B-PER, in place of their numbers",
                                      "in:3: expected a list tokens or words, got text",
                                      "in:4: not valid JSON at column 1: syntax error while parsing value - invalid "
                                      "literal; last read: 'x'",
                                      "b/O "}));
  EXPECT_EQ(read("{ O\n} O\n"), (std::vector<std::string>{"{/O }/O "}));
}

}  // namespace
}  // namespace deberta::conll_test
