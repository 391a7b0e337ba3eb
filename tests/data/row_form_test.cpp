// Forms of rows by their names and by the endings of file names.
#include "data/row_form.h"

#include <gtest/gtest.h>

#include <string>

#include "data/examples.h"
#include "support/expect_error.h"

namespace deberta::row_form_test {
namespace {

constexpr RowForm kForms[] = {RowForm::kText,  RowForm::kTsv,  RowForm::kCsv,
                              RowForm::kJsonl, RowForm::kJson, RowForm::kConll};

TEST(RowForm, EveryOneHasANameThatIsRead) {
  for (const RowForm form : kForms) EXPECT_EQ(parse_row_form(to_string(form)), form) << to_string(form);
  for (const char* word : {"", "auto", "CSV", "ndjson"}) EXPECT_EQ(parse_row_form(word), std::nullopt) << word;
}

TEST(RowForm, AnEndingSaysItInAnyCaseAndBeforeThatOfACompression) {
  for (const RowForm form : kForms) {
    if (form == RowForm::kText) continue;
    const std::string name = "a." + std::string(to_string(form));
    EXPECT_EQ(form_of_ending(name), form);
    EXPECT_EQ(form_of_ending(name + ".gz"), form);
  }
  EXPECT_TRUE(has_parquet_ending("in/a.Parquet") && !has_parquet_ending("parquet") && !has_parquet_ending("a.csv"));
  EXPECT_EQ(form_of_ending("a.TXT"), RowForm::kText);
  EXPECT_EQ(form_of_ending("a.Tab"), RowForm::kTsv);
  EXPECT_EQ(form_of_ending("a.ndjson.XZ"), RowForm::kJsonl);
  for (const char* name : {"", "a", "csv", "a.csv.bak", "a.gz", "standard input"})
    EXPECT_EQ(form_of_ending(name), std::nullopt) << name;
}

TEST(RowForm, AnEndingOfTextsOrSentencesSaysNothingOfExamples) {
  const auto read = [](const char* name) {
    ExampleRules rules{ExampleForm::kText, {{{"text"}}, {}, {}, {}, {}}, {}};
    ExampleReader reader(ByteSource(to_bytes("text\tlabel\na,b\t1\n"), name), std::move(rules));
    Example example;
    EXPECT_TRUE(reader.next(example)) << name;
    return example.text;
  };
  for (const char* name : {"a.txt", "a.conll", "a"}) EXPECT_EQ(read(name), "a,b");
}

TEST(RowForm, SentencesAreNoRecords) {
  EXPECT_ERROR(RecordReader(LineReader(ByteSource(to_bytes("a O\n"), "in")), RowForm::kConll, {}), kInternal,
               "sentences are not records");
}

}  // namespace
}  // namespace deberta::row_form_test
