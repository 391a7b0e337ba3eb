// SQuAD: answers stand at their positions, in code points; an invalid question is left out and reported.
#include "data/squad.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "support/compressed.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::squad_test {
namespace {

SquadFile read(std::string_view text) {
  ByteSource source(to_bytes(text), "in");
  return read_squad(source);
}

// A file with one paragraph.
std::string file_of(const std::string& context, const std::string& questions) {
  return R"({"version": "v2.0", "data": [{"title": "T", "paragraphs": [{"context": )" + quote_json(context) +
         ", \"qas\": [" + questions + "]}]}]}";
}
std::string question(const std::string& rest) {
  return R"({"id": "q", "question": "What?")" + rest + "}";
}

constexpr const char* kContext = "na\xC3\xAFve \xF0\x9F\x98\x80 cat";

TEST(Squad, PlacesCountCodePoints) {
  const SquadFile file =
      read(file_of(kContext, question(R"(, "answers": [{"text": "cat", "answer_start": 8}, {"text": ")"
                                      "\xF0\x9F\x98\x80"
                                      R"(", "answer_start": 6}])")));
  EXPECT_TRUE(file.skipped.empty());
  ASSERT_EQ(file.questions.size(), 1u);
  const SquadQuestion& first = file.questions[0];
  EXPECT_EQ(first.id, "q");
  EXPECT_EQ(first.question, "What?");
  EXPECT_TRUE(first.is_labelled && !first.is_impossible);
  ASSERT_EQ(first.answers.size(), 2u);
  EXPECT_EQ(first.answers[0].begin_char, 8u);
  EXPECT_EQ(first.answers[0].begin_byte, 12u);
  EXPECT_EQ(first.answers[1].begin_byte, 7u);
  EXPECT_EQ(file.contexts[first.context], kContext);
  EXPECT_EQ(file.titles[first.context], "T");
  EXPECT_EQ(file.version, "v2.0");
}

TEST(Squad, QuestionsMayBeImpossibleOrWithoutLabels) {
  const auto read_one = [](const std::string& rest) { return read(file_of(kContext, question(rest))).questions.at(0); };
  EXPECT_TRUE(
      read_one(R"(, "is_impossible": true, "answers": [], "plausible_answers": [{"text": "x", "answer_start": 1}])")
          .is_impossible);
  EXPECT_TRUE(read_one(R"(, "answers": [])").is_impossible);
  EXPECT_TRUE(read_one(R"(, "is_impossible": true)").is_labelled);
  EXPECT_FALSE(read_one("").is_labelled);
  EXPECT_FALSE(read_one("").is_impossible);
}

struct Hostile {
  std::string question, error;
};

TEST(Squad, AWrongQuestionIsSkippedAndReportedWithItsPlace) {
  const auto answer = [](const std::string& members) { return question(", \"answers\": [{" + members + "}]"); };
  const std::vector<Hostile> cases = {
      {answer(R"("text": "cat", "answer_start": 7)"),
       R"(/answers/0: text: expected the text at answer_start 7, " ca", got "cat")"},
      {answer(R"("text": "cat", "answer_start": 12)"), "/answers/0: answer_start: expected 0 to 11, got 12"},
      {answer(R"("text": "cat", "answer_start": 11)"), "/answers/0: text: expected the text at answer_start 11, \"\""},
      {answer(R"("text": "cats", "answer_start": 8)"), "/answers/0: text: expected the text at"},
      {answer(R"("text": "cat", "answer_start": -1)"), "/answers/0: answer_start: expected 0 to 11, got -1"},
      {answer(R"("text": "cat", "answer_start": 9223372036854775807)"), "/answers/0: answer_start: expected 0 to 11"},
      {answer(R"("text": "cat", "answer_start": 8.0)"), "/answers/0: answer_start: expected an integer, got 8.0"},
      {answer(R"("text": "cat", "answer_start": "8")"),
       "/answers/0: answer_start: expected an integer, got \"8\" (string)"},
      {answer(R"("text": "", "answer_start": 8)"), "/answers/0: text: expected an answer, got an empty text"},
      {answer(R"("text": 5, "answer_start": 8)"), "/answers/0: text: expected a string, got 5"},
      {answer(R"("text": "cat")"), "/answers/0: no answer_start"},
      {answer(R"("answer_start": 8)"), "/answers/0: no text"},
      {question(R"(, "answers": {"text": ["cat"]})"), "/answers: no answer_start"},
      {question(R"(, "answers": 5)"), ": answers: expected an array"},
      {question(R"(, "answers": [5])"), "/answers/0: no text"},
      {question(R"(, "is_impossible": true, "answers": [{"text": "cat", "answer_start": 8}])"),
       ": is_impossible: expected no answer, got one"},
      {question(R"(, "is_impossible": false, "answers": [])"), ": answers: expected one, got none"},
      {question(R"(, "is_impossible": "no")"), ": is_impossible: expected true or false"},
      {R"({"question": "What?"})", ": no id"},
      {R"({"id": 5, "question": "What?"})", ": id: expected a string"},
      {R"({"id": "q"})", ": no question"},
      {"5", ": no id"},
      {question("") + "," + question(""), "/qas/2: the id \"q\" appears twice"}};
  for (const Hostile& hostile : cases) {
    SCOPED_TRACE(hostile.question);
    const SquadFile file = read(file_of(
        kContext, R"({"id": "first", "question": "?"},)" + hostile.question + R"(,{"id": "last", "question": "?"})"));
    ASSERT_EQ(file.skipped.size(), 1u);
    const std::string message = file.skipped[0].where + ": " + file.skipped[0].message;
    EXPECT_TRUE(message.starts_with("in: data/0/paragraphs/0/qas/")) << message;
    EXPECT_NE(message.find(hostile.error), std::string::npos) << message;
    EXPECT_EQ(file.questions.front().id, "first");
    EXPECT_EQ(file.questions.back().id, "last");
  }
}

// The same questions in every form that people have.
TEST(Squad, RowsMayHaveTheirOwnContexts) {
  const std::string a =
      R"({"id": "1", "title": "T", "context": "a cat sat", "question": "Who?", "answers": {"text": ["cat", "a cat"], "answer_start": [2, 0]}})";
  const std::string b =
      R"({"id": "2", "context": "a cat sat", "question": "Why?", "answers": {"text": [], "answer_start": []}})";
  const std::string c =
      R"({"id": "3", "context": "b", "question": "What?", "answers": [{"text": "b", "answer_start": 0}]})";
  for (const std::string& text : {a + "\n\n" + b + "\r\n" + c + "\n", "[" + a + ", " + b + ",\n" + c + "]",
                                  R"({"version": "x", "data": [)" + a + "," + b + "," + c + "]}"}) {
    const SquadFile file = read(text);
    EXPECT_TRUE(file.skipped.empty()) << text;
    EXPECT_EQ(file.contexts, (std::vector<std::string>{"a cat sat", "b"}));
    EXPECT_EQ(file.titles, (std::vector<std::string>{"T", ""}));
    ASSERT_EQ(file.questions.size(), 3u);
    EXPECT_EQ(file.questions[0].answers[0].begin_char, 2u);
    EXPECT_EQ(file.questions[0].answers[1].text, "a cat");
    EXPECT_TRUE(file.questions[1].is_impossible && file.questions[1].context == 0);
    EXPECT_EQ(file.questions[2].answers.size(), 1u);
  }
  EXPECT_EQ(read(a + "\n").questions.size(), 1u);
}

TEST(Squad, RowsMayBeginWithBlankLinesOrAWrongRow) {
  const std::string row =
      R"({"id": "1", "question": "What?", "context": "a cat", "answers": {"text": ["cat"], "answer_start": [2]}})";
  EXPECT_EQ(read("\n \n" + row + "\n").questions.size(), 1u);
  const SquadFile file = read("\n{\"text\": \"a row of another kind\"}\n" + row + "\n");
  EXPECT_EQ(file.questions.size(), 1u);
  ASSERT_EQ(file.skipped.size(), 1u);
  EXPECT_EQ(file.skipped[0].where, "in:2");
}

TEST(Squad, AWrongRowIsSkippedWithItsPlace) {
  const std::string good = R"({"id": "1", "context": "a cat", "question": "Who?"})";
  const auto skipped = [&](const std::string& rest) {
    const SquadFile file = read(good + "\n" + R"({"id": "2", "context": "a cat", "question": "Who?", )" + rest + "}\n");
    EXPECT_EQ(file.questions.size(), 1u);
    return file.skipped.empty() ? "" : file.skipped[0].where + ": " + file.skipped[0].message;
  };
  EXPECT_EQ(skipped(R"("answers": {"text": ["cat"], "answer_start": []})"),
            "in:2/answers: expected as many answer_start as text, got 0 and 1");
  EXPECT_EQ(skipped(R"("answers": {"text": ["cat"], "answer_start": ["2"]})"),
            "in:2/answers/0: answer_start: expected an integer, got \"2\" (string)");
  EXPECT_EQ(skipped(R"("answers": {"text": ["dog"], "answer_start": [2]})"),
            "in:2/answers/0: text: expected the text at answer_start 2, \"cat\", got \"dog\"");
  EXPECT_EQ(read("[" + good + ", 7]").skipped[0].where, "in: 1");
  EXPECT_EQ(read("[" + good + ", 7]").skipped[0].message, "expected an object, got 7 (integer)");
  EXPECT_TRUE(read(good + "\n{\n").skipped[0].where.starts_with("in:2"));
  EXPECT_EQ(skipped(R"("is_impossible": null, "answers": {"text": [7], "answer_start": [2]})"),
            "in:2/answers/0: text: expected a string, got 7 (integer)");
}

TEST(Squad, AFileOfAnotherShapeIsRefused) {
  EXPECT_ERROR(read("[]"), kInput, "in: no data");
  EXPECT_ERROR(read("{}"), kInput, "in: no data");
  EXPECT_ERROR(read(R"({"data": {}})"), kInput, "in: data: expected an array");
  EXPECT_ERROR(read(R"({"data": [{}]})"), kInput, "in: data/0: no paragraphs");
  EXPECT_ERROR(read(R"({"data": [{"paragraphs": [{"qas": []}]}]})"), kInput, "in: data/0/paragraphs/0: no context");
  EXPECT_ERROR(read(R"({"data": [{"paragraphs": [{"context": "x"}]}]})"), kInput, "in: data/0/paragraphs/0: no qas");
  EXPECT_ERROR(read(R"({"data": [], "data": []})"), kJson, "appears twice");
  EXPECT_ERROR(read("{\"data\": " + std::string(100000, '[')), kJson, "at most 16 nested levels");
  EXPECT_TRUE(read(R"({"data": []})").questions.empty());
}

TEST(Squad, LimitsCountDecompressedBytes) {
  const std::string stored = test::compressed(std::string(kMaxSquadBytes + 1, ' '), Compression::kZstd);
  ASSERT_LT(stored.size(), size_t{1} << 20);
  ByteSource source(to_bytes(stored), "in", Compression::kZstd);
  EXPECT_ERROR(read_squad(source), kTooLarge, "in: expected at most 134217728 bytes");
}

TEST(Squad, ReadsThePublishedFileWhenItIsThere) {
  const std::string path = test::shared("data/squad/dev-v2.0.rebuilt.json.xz");
  if (path.empty()) GTEST_SKIP() << "needs the shared folder";
  ByteSource source(path);
  const SquadFile file = read_squad(source);
  size_t answers = 0, impossible = 0;
  for (const SquadQuestion& question : file.questions) {
    answers += question.answers.size();
    impossible += question.is_impossible;
  }
  EXPECT_TRUE(file.skipped.empty());
  EXPECT_EQ(file.questions.size(), 11873u);
  EXPECT_EQ(answers, 20302u);
  EXPECT_EQ(impossible, 5945u);
}

}  // namespace
}  // namespace deberta::squad_test
