// Predictions in their three forms.
#include "data/predictions.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace deberta::predictions_test {
namespace {

using Form = Predictions::Form;

Predictions read(std::string_view text, Form form) {
  return Predictions(ByteSource(to_bytes(text), "in"), form);
}
std::string description(Predictions& predictions, size_t row, const std::string& id = "") {
  const FoundPrediction* prediction = predictions.find(row, id);
  return prediction == nullptr ? "none" : prediction->text + " at " + prediction->where;
}

TEST(Predictions, TheFormGoesByTheEnding) {
  EXPECT_EQ(Predictions::form_of("a.json"), Form::kDocument);
  EXPECT_EQ(Predictions::form_of("a.jsonl.gz"), Form::kLines);
  EXPECT_EQ(Predictions::form_of("a.tsv"), Form::kTable);
  EXPECT_EQ(Predictions::form_of("-"), Form::kTable);
}

TEST(Predictions, ATableGoesByTheNumberOfTheRow) {
  Predictions predictions = read("index\tprediction\n01\ta b\n0\t\n", Form::kTable);
  EXPECT_EQ(description(predictions, 1, "0"), "a b at in:2") << "whatever the row's own id";
  EXPECT_EQ(predictions.unused(), 1u);
  EXPECT_EQ(description(predictions, 0), " at in:3");
  EXPECT_EQ(description(predictions, 2), "none");
  EXPECT_EQ(predictions.unused(), 0u);
}

TEST(Predictions, LinesGoByTheIdWhereThereIsOne) {
  Predictions predictions =
      read("{\"idx\": 7, \"label\": true}\n\n{\"id\": \"0\", \"prediction\": 1.5}\n", Form::kLines);
  EXPECT_EQ(description(predictions, 0, "7"), "true at in:1");
  EXPECT_EQ(description(predictions, 0), "1.5 at in:3");
}

TEST(Predictions, NestedAnswersAreFoundByTheirOwnIds) {
  Predictions predictions = read(
      R"({"idx": 0, "passage": {"questions": [{"idx": 0, "answers": [{"idx": 3, "label": 1}]}, {"answers": [{"idx": 4, "label": 0}]}]}})",
      Form::kLines);
  EXPECT_EQ(description(predictions, 9, "3"), "1 at in:1");
  EXPECT_EQ(description(predictions, 9, "4"), "0 at in:1");
}

TEST(Predictions, ADocumentIsAnObjectOrAnArrayOfRows) {
  Predictions object = read("{\"q1\": \"the cat\",\n \"q2\": \"\"}", Form::kDocument);
  EXPECT_EQ(description(object, 5, "q1"), "the cat at in: \"q1\"");
  EXPECT_EQ(description(object, 5, "q2"), " at in: \"q2\"");
  Predictions array = read("[{\"idx\": 1, \"label\": \"x\"}]", Form::kDocument);
  EXPECT_EQ(description(array, 0, "1"), "x at in: item 1");
}

TEST(Predictions, WrongOnesAreRefusedWithTheirPlace) {
  EXPECT_ERROR(read("0\ta\n0\tb\n", Form::kTable), kInput, "in:2: \"0\" appears twice");
  EXPECT_ERROR(read("1\ta\n01\tb\n", Form::kTable), kInput, "in:2: \"1\" appears twice");
  EXPECT_ERROR(read("-1\ta\n", Form::kTable), kInput, "in:1: index: expected a row's number, got \"-1\"");
  EXPECT_ERROR(read("0\ta\nb\n", Form::kTable), kInput, "in:2: expected 2 columns, got 1");
  EXPECT_ERROR(read("{\"idx\": 1}\n", Form::kLines), kInput, "in:1: expected an object with idx and label");
  EXPECT_ERROR(read("{\"idx\": [1], \"label\": 2}\n", Form::kLines), kInput, "in:1: expected a string or a number");
  EXPECT_ERROR(read("{\"passage\": {}}\n", Form::kLines), kInput, "in:1: no questions");
  EXPECT_ERROR(read("{\n", Form::kLines), kJson, "in:1");
  EXPECT_ERROR(read("7", Form::kDocument), kInput, "in: expected an object from ids to answers, got 7 (integer)");
  EXPECT_ERROR(read("{\"a\": {}}", Form::kDocument), kInput, "in: \"a\": expected a string or a number");
}

TEST(Predictions, NumbersByIdKeepTheirOrder) {
  const auto numbers = read_numbers_by_id(ByteSource(to_bytes("{\"b\": 0.5, \"a\": 2}"), "in"));
  ASSERT_EQ(numbers.size(), 2u);
  EXPECT_EQ(numbers[0].first, "b");
  EXPECT_EQ(numbers[1].second, 2);
  EXPECT_ERROR(read_numbers_by_id(ByteSource(to_bytes("{\"b\": \"x\"}"), "in")), kInput,
               "in: \"b\": expected a number, got \"x\" (string)");
  EXPECT_ERROR(read_numbers_by_id(ByteSource(to_bytes("[]"), "in")), kInput, "expected an object from ids to numbers");
}

}  // namespace
}  // namespace deberta::predictions_test
