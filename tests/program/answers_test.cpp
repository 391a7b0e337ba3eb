// Formats of answers as bytes: quotes, row numbers, names of kept keys, digits. Whole runs: test_answers.py.
#include "program/answers.h"

#include <gtest/gtest.h>

#include <memory>

#include <string>

#include "support/expect_error.h"

namespace deberta::program::answers_test {
namespace {

class Memory final : public FileWriter {
 public:
  void write(Bytes bytes) override { text += to_text(bytes); }
  std::string text;
};

Row row_of(size_t number, JsonObject kept = {}) {
  Row row;
  row.number = number;
  row.kept = std::move(kept);
  return row;
}

// Two lines for the first row, an error for the second, none for the third, one for the fourth.
std::string written(const AnswerLayout& layout) {
  Memory out;
  AnswerWriter writer(layout, out);
  writer.answer(row_of(1, {{"id", "a"}}), {{{"n", 1}}, {{"x", cell(0.125F)}, {"y", cell(0.75F)}}});
  writer.bad(row_of(2, {{"id", 7}}), Error(ErrorCode::kInput, "in:2", "no"));
  writer.answer(row_of(3), {{{"n", 3}}, {}});
  writer.answer(row_of(4), {{{"n", 4}}, {{"z,\"", cell(0.5F)}}});
  writer.finish();
  return out.text;
}

TEST(AnswerWriter, AllThatRowsHaveAreTheFirstColumns) {
  const AnswerLayout layout{.format = Format::kCsv, .columns = {"word", "score"}, .has_mark = true, .keeps_all = true};
  EXPECT_EQ(written(layout), "\xEF\xBB\xBFid,word,score\na,x,0.125\na,y,0.75\n7,!error,in:2: no\n,\"z,\"\"\",0.5\n");
  // A bad row before the first that has keys waits for their names; a key that the first row lacks is refused.
  Memory out;
  AnswerWriter writer({.format = Format::kTsv, .columns = {"word"}, .keeps_all = true}, out);
  writer.bad(row_of(1), Error(ErrorCode::kInput, "in:1", "no"));
  writer.answer(row_of(2, {{"id", "a"}, {"text", "b"}}), {{}, {{"x"}}});
  EXPECT_ERROR(writer.answer(row_of(3, {{"id", "c"}, {"new", 1}}), {{}, {{"x"}}}), kInput, "got also \"new\"");
  writer.finish();
  EXPECT_EQ(out.text, "id\ttext\tword\n\t\t!error in:1: no\na\tb\tx\n");
  // All columns of a table are known, even where its first row is bad or leaves some out.
  Memory table;
  AnswerWriter known({.format = Format::kCsv, .columns = {"word"}, .keeps_all = true}, table);
  Row bad = row_of(1), good = row_of(2, {{"text", "b"}});
  bad.columns = good.columns =
      std::make_shared<const std::vector<std::string>>(std::vector<std::string>{"text", "id", "3"});
  known.bad(bad, Error(ErrorCode::kInput, "in:1", "no"));
  known.answer(good, {{}, {{"x"}}});
  known.finish();
  EXPECT_EQ(table.text, "text,id,3,word\n,,,!error in:1: no\nb,,,x\n");
  Memory endless;
  AnswerWriter many({.format = Format::kCsv, .columns = {"word"}, .keeps_all = true}, endless);
  const auto fill = [&] {
    for (size_t i = 1; i < 20000; ++i) many.bad(row_of(i), Error(ErrorCode::kInput, "in:1", "no"));
  };
  EXPECT_ERROR(fill(), kInput, "--keep: all: expected a row with an answer among the first 10000");
  Memory none;
  AnswerWriter empty({.format = Format::kTsv, .columns = {"word"}, .keeps_all = true}, none);
  empty.finish();
  EXPECT_EQ(none.text, "word\n");
}

TEST(AnswerWriter, LinesOfARowBeginWithItsNumberOrWhatIsKept) {
  const AnswerColumns lines({"word", "score"}, true);
  EXPECT_EQ(written({.format = Format::kTsv, .columns = lines}),
            "row\tword\tscore\n1\tx\t0.125\n1\ty\t0.75\n2\t!error\tin:2: no\n4\tz,\"\t0.5\n");
  EXPECT_EQ(written({.format = Format::kCsv, .columns = lines}),
            "row,word,score\n1,x,0.125\n1,y,0.75\n2,!error,in:2: no\n4,\"z,\"\"\",0.5\n");
  EXPECT_EQ(written({.format = Format::kTsv, .columns = lines, .kept = {"id"}}),
            "id\tword\tscore\na\tx\t0.125\na\ty\t0.75\n7\t!error\tin:2: no\n\tz,\"\t0.5\n");
  EXPECT_EQ(written({.format = Format::kTsv, .columns = {"word", "score"}, .has_header = false}),
            "x\t0.125\ny\t0.75\n!error\tin:2: no\nz,\"\t0.5\n");
}

TEST(AnswerWriter, KeptNamesNeverTakeThoseOfTheAnswer) {
  const AnswerColumns columns{"label", "score"};
  const auto header = [&](std::vector<std::string> kept) {
    Memory out;
    AnswerWriter({.format = Format::kTsv, .columns = columns, .kept = std::move(kept)}, out).finish();
    return out.text;
  };
  EXPECT_EQ(header({"id", "label"}), "id\tinput_label\tlabel\tscore\n");
  EXPECT_EQ(header({"label", "input_label"}), "input_input_label\tinput_label\tlabel\tscore\n");

  Memory out;
  AnswerWriter writer({.format = Format::kJsonl, .columns = columns}, out);
  const JsonObject kept{{"label", "l"}, {"input_label", 1}, {"error", "e"}, {"rows", 2.5}};
  writer.bad(row_of(1, kept), Error(ErrorCode::kInput, "in:1", "no"));
  writer.answer(row_of(2, kept), {{{"label", "x"}, {"rows", 3}}, {}});
  writer.bad(row_of(3, kept), Error(ErrorCode::kInput, "in:3", "no"));
  writer.finish();
  EXPECT_EQ(out.text,
            "{\"input_input_label\": \"l\", \"input_label\": 1, \"input_error\": \"e\", \"rows\": 2.5, \"error\": "
            "{\"code\": \"input\", \"message\": \"in:1: no\"}}\n"
            "{\"input_input_label\": \"l\", \"input_label\": 1, \"input_error\": \"e\", \"input_rows\": 2.5, "
            "\"label\": \"x\", \"rows\": 3}\n"
            "{\"input_input_label\": \"l\", \"input_label\": 1, \"input_error\": \"e\", \"input_rows\": 2.5, "
            "\"error\": {\"code\": \"input\", \"message\": \"in:3: no\"}}\n");
}

TEST(AnswerWriter, ColumnsOfOneNameAreTold) {
  Memory out;
  const AnswerColumns columns{"label", "score", "label", "note", "score", "label"};
  AnswerWriter({.format = Format::kTsv, .columns = columns, .has_notes = true}, out).finish();
  EXPECT_EQ(out.text, "label\tscore\tlabel_\tnote\tscore_\tlabel__\tnote_\n");
}

TEST(AnswerWriter, WhatATextWasLikeIsToldOfEachLineAndOfRowsWithoutOne) {
  Memory out;
  const AnswerColumns columns({"word", "score"}, true);
  AnswerWriter writer({.format = Format::kTsv, .columns = columns, .has_header = false, .has_notes = true}, out);
  Answer both{{}, {{"a", "1"}, {"b", "2"}}};
  both.marks = {{.cut_tokens = 5}, {.is_empty = true}};
  writer.answer(row_of(1), both);
  writer.answer(row_of(2), {{}, {}, {}, {}, 7, true});
  writer.answer(row_of(3), {{}, {}});
  writer.finish();
  EXPECT_EQ(out.text, "1\ta\t1\t5 tokens cut\n1\tb\t2\tempty text\n2\t\t\t7 tokens cut, empty text\n");
}

TEST(AnswerWriter, ACsvHoldsNoCharacterThatNoReaderTakes) {
  Memory out;
  const AnswerColumns columns{"word"};
  AnswerWriter writer({.format = Format::kCsv, .columns = columns, .has_header = false, .kept = {"id"}}, out);
  const std::string nul("x\0y", 3);
  EXPECT_ERROR(writer.answer(row_of(1, {{"id", nul}}), {{}, {{"a"}, {"b"}}}), kInput, "NUL");
  EXPECT_ERROR(writer.answer(row_of(1, {{"id", "1"}}), {{}, {{"a"}, {nul}}}), kInput, "NUL");
  writer.bad(row_of(1, {{"id", nul}}), Error(ErrorCode::kInput, "in:1", "no"));
  writer.answer(row_of(2, {{"id",
                            "\xEF\xBB\xBF"
                            "2"}}),
                {{}, {{"a"}}});
  writer.finish();
  EXPECT_EQ(out.text,
            "x,!error in:1: no\n\"\xEF\xBB\xBF"
            "2\",a\n");
}

TEST(AnswerWriter, DigitsShortenScoresAndNothingElse) {
  Memory out;
  AnswerWriter writer({.format = Format::kTsv, .columns = {"text", "score"}, .has_header = false, .digits = 3}, out);
  writer.answer({}, {{}, {{"0.123456", cell(0.123456F)}, {"12345678", cell(uint64_t{12345678})}, {"", cell(-1e-9F)}}});
  writer.finish();
  EXPECT_EQ(out.text, "0.123456\t0.123\n12345678\t12345678\n\t-1e-09\n");
  const Json value = JsonObject{{"a", 0.99951F}, {"b", JsonArray{Json(123456.0), Json(7), Json("0.12345")}}};
  EXPECT_EQ(with_digits(value, 3).dump(), "{\"a\": 1.0, \"b\": [123000.0, 7, \"0.12345\"]}");
  EXPECT_EQ(with_digits(value, 0).dump(), value.dump());
  EXPECT_EQ(with_digits(std::string("nan"), 3), "nan");
  EXPECT_EQ(with_digits(std::string("0.1"), 17), "0.1");
}

}  // namespace
}  // namespace deberta::program::answers_test
