// Which argument an error about a wrong field, form or kept name mentions, in the library's words. What a user reads is
// in test_input.py.
#include "rows/row_fields.h"

#include <gtest/gtest.h>

#include <string>

#include "deberta/error.h"
#include "rows/row_files.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::row_fields_test {
namespace {

const RowShape kText{.names = {"text"}};

const std::function<bool()> kGoOn = [] { return false; };

std::string refused(const std::string& text, const std::string& name, const RowRules& rules) {
  const test::TemporaryFolder folder;
  test::write_text(folder.path(name), text);
  try {
    const auto rows = open_row_file(folder.path(name), rules, kGoOn);
    for (Row row; rows->next(row);) {
      if (row.error) throw *row.error;
    }
  } catch (const Error& error) {
    std::string what = error.what();
    const size_t position = what.find(folder.path(""));
    return position == what.npos ? what : what.erase(position, folder.path("").size());
  }
  return "";
}

TEST(RowFields, AMissingTextIsNamedByItsArgument) {
  const RowRules rules{.fields = {.shape = kText}};
  EXPECT_EQ(refused("id,b\n", "a.csv", rules), "a.csv: no column \"text\" among id, b; name it with fields");
  EXPECT_EQ(refused("id|text\n", "a.csv", rules),
            "a.csv: no column \"text\" among id|text; the columns seem to be separated by |: name it with separator");
  EXPECT_EQ(refused("Text,b\n", "a.csv", rules),
            "a.csv: no column \"text\" among Text, b; did you mean Text? name it with fields");
  EXPECT_EQ(refused("{\"id\": 1}\n", "a.jsonl", rules),
            "a.jsonl: no row has the key \"text\", the first one has id; name it with fields");
  EXPECT_EQ(refused("{\"text\": \"x\"}\n{\"id\": 1}\n", "a.jsonl", rules),
            "a.jsonl:2: no key \"text\" among id; name it with fields");
}

TEST(RowFields, AKeptNameThatIsNowhereIsNamedByItsArgument) {
  const RowRules rules{.fields = {.shape = kText, .kept = {.names = {"idd"}}}};
  EXPECT_EQ(refused("text,id\n", "a.csv", rules),
            "a.csv: no column \"idd\" among text, id; did you mean id? kept names columns of the input");
  EXPECT_EQ(refused("{\"text\": \"x\"}\n", "a.jsonl", rules),
            "a.jsonl: no row has the key \"idd\", the first one has text; kept names keys of the input");
  EXPECT_EQ(refused("x\n", "a.txt", rules),
            "kept: expected rows with columns or keys of these names, got lines of text from a.txt");
}

TEST(RowFields, NamesThatDoNotFitTheRowsAreTheArgumentsFault) {
  EXPECT_EQ(refused("x\n", "a.txt", {.fields = {.shape = kText, .fields = {"review"}}}),
            "fields: expected rows with columns or keys, got lines of text from a.txt; name their format with form");
  EXPECT_EQ(refused("a,b\n", "a.csv", {.fields = {.shape = kText, .fields = {"a", "b"}}}),
            "fields: expected these names (text), got 2");
  const RowShape either{
      .names = {"text", "text_pair"}, .needs_all = true, .published_names = {{"premise", "hypothesis"}}};
  EXPECT_EQ(refused("text,text_pair,premise,hypothesis\n", "a.csv", {.fields = {.shape = either}}),
            "a.csv: expected one pair of texts, got text,text_pair and premise,hypothesis; name them with fields");
}

// The labels of each row, and those of none as "-".
std::string labels_of(const std::string& text, const std::string& name) {
  const test::TemporaryFolder folder;
  test::write_text(folder.path(name), text);
  const RowRules rules{.fields = {.shape = {.names = {"text"}, .needs_all = true, .labels = "labels"}}};
  const auto rows = open_row_file(folder.path(name), rules, kGoOn);
  std::string all;
  for (Row row; rows->next(row);) {
    if (row.error) throw *row.error;
    if (!row.labels) all += "-";
    for (const EntityLabel& label : row.labels.value_or(std::vector<EntityLabel>())) all += label.text + ";";
    all += "\n";
  }
  return all;
}

TEST(RowFields, LabelsOfARowAreItsOwn) {
  EXPECT_EQ(labels_of("text,labels\na,\"x,y\"\nb,\n", "a.csv"), "x;y;\n-\n");
  EXPECT_EQ(labels_of(R"({"text": "a", "labels": ["x"]})"
                      "\n"
                      R"({"text": "a", "labels": {"x": "what x is"}})"
                      "\n"
                      R"({"text": "a", "labels": []})"
                      "\n"
                      R"({"text": "a", "labels": null})"
                      "\n"
                      R"({"text": "a"})"
                      "\n",
                      "a.jsonl"),
            "x;\nwhat x is;\n\n-\n-\n");
  EXPECT_ERROR(labels_of("{\"text\": \"a\", \"labels\": 3}\n", "a.jsonl"), kInput, "labels: expected a list");
}

TEST(RowForm, ColumnsOfSentencesMayBeReadAsTexts) {
  EXPECT_EQ(refused("x O\n", "a.conll", {.fields = {.shape = kText}}),
            "a.conll: expected text, tsv, csv, jsonl or json, got CoNLL columns; form=text reads its lines as texts");
}

}  // namespace
}  // namespace deberta::row_fields_test
