// Rows with entities in their three forms, and what is refused of each.
#include "data/entity_rows.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/expect_error.h"

namespace deberta::entity_rows_test {
namespace {

EntityRow read(const std::string& text) {
  return read_entity_row(parse_json(text, "row"), "row");
}

// "Ada=person Rome=city"
std::string shown(const EntityRow& row) {
  std::string text;
  for (const LabelledSpan& span : row.entities)
    text +=
        fmt::format("{}{}={}", text.empty() ? "" : " ", row.text.substr(span.begin, span.end - span.begin), span.label);
  return text;
}

TEST(EntityRows, PlacesInCharactersAndInWords) {
  const EntityRow spans = read(R"({"text": "née Ada 😀 in Rome", "entities": [
      {"start": 13, "end": 17, "label": "city"}, {"start": 4, "end": 7, "label": "person"}]})");
  EXPECT_EQ(shown(spans), "Ada=person Rome=city") << "in the order of the text";
  const EntityRow words = read(R"({"tokenized_text": ["née", "Ada", "King", "in", "Rome"],
      "ner": [[4, 4, "city"], [1, 2, "person"]]})");
  EXPECT_EQ(words.text, "née Ada King in Rome");
  EXPECT_EQ(shown(words), "Ada King=person Rome=city") << "the last word is included";
  EXPECT_FALSE(words.labels);
}

// What `extract` answers can be read again.
TEST(EntityRows, AnswersOfExtractAreRows) {
  EXPECT_EQ(shown(read(R"({"text": "Ada", "entities": [{"entity_group": "person", "score": 0.9, "start": 0, "end": 3,
      "word": "Ada"}]})")),
            "Ada=person");
}

TEST(EntityRows, SpansLoseTheWhiteSpaceAroundThemAndCopiesCountOnce) {
  const EntityRow row = read(R"({"text": "an Ada !", "entities": [{"start": 2, "end": 7, "label": "person"},
      {"start": 3, "end": 6, "label": "person"}, {"start": 3, "end": 6, "label": "name"}]})");
  EXPECT_EQ(shown(row), "Ada=name Ada=person");
}

TEST(EntityRows, LabelsThatTheTextWasSearchedFor) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(*read(R"({"tokenized_text": ["a"], "ner": [], "ner_negatives": ["city"]})").labels, Names{"city"});
  EXPECT_EQ(*read(R"({"text": "a", "entities": [], "labels": ["city", "person"]})").labels, (Names{"city", "person"}));
  EXPECT_TRUE(read(R"({"text": "a", "entities": [], "labels": []})").labels->empty());
  EXPECT_EQ(*read(R"({"tokens": ["a"], "ner_tags": ["O"], "ner_negatives": ["PER"]})").labels, Names{"PER"});
  EXPECT_FALSE(read(R"({"tokens": ["a"], "labels": ["O"]})").labels.has_value()) << "they are tags";
}

TEST(EntityRows, TagsStayTagsUntilAllRowsAreRead) {
  const EntityRow row = read(R"({"tokens": ["Ada", "King"], "ner_tags": ["B-PER", "I-PER"]})");
  EXPECT_EQ(row.text, "Ada King");
  EXPECT_EQ(row.tags, (std::vector<std::string>{"B-PER", "I-PER"}));
  EXPECT_TRUE(row.entities.empty());
}

TEST(EntityRows, WhatIsRefused) {
  EXPECT_ERROR(read("[]"), kInput, "row: expected an object, got an array");
  EXPECT_ERROR(read(R"({"sentence": "a"})"), kInput,
               "row: expected text and entities, tokenized_text and ner, or tokens and ner_tags, got sentence");
  EXPECT_ERROR(read(R"({"text": "a"})"), kInput, "row: no entities");
  EXPECT_ERROR(read(R"({"text": "ab", "entities": [{"start": 1, "end": 3, "label": "x"}]})"), kInput,
               "row: entities/0: expected a range in a text of 2 characters, got 1 to 3");
  EXPECT_ERROR(read(R"({"text": "ab", "entities": [{"start": 1, "end": 1, "label": "x"}]})"), kInput, "got 1 to 1");
  EXPECT_ERROR(read(R"({"text": "ab", "entities": [{"start": -1, "end": 1, "label": "x"}]})"), kInput, "got -1 to 1");
  EXPECT_ERROR(read(R"({"text": "a  b", "entities": [{"start": 1, "end": 3, "label": "x"}]})"), kInput,
               "expected a part of the text that is no white space");
  EXPECT_ERROR(read(R"({"text": "ab", "entities": [{"start": 0, "end": 1}]})"), kInput, "no label, got start, end");
  EXPECT_ERROR(read(R"({"text": "ab", "entities": [{"start": 0, "end": 1, "label": " "}]})"), kInput,
               "label: expected a text, got an empty one");
  EXPECT_ERROR(read(R"({"text": "ab", "entities": ["x"]})"), kInput, "entities/0: expected an object");
  EXPECT_ERROR(read(R"({"tokenized_text": ["a"], "ner": [[0, 1, "x"]]})"), kInput,
               "row: ner/0: expected a range of 1 words, got 0 to 1");
  EXPECT_ERROR(read(R"({"tokenized_text": ["a", "b"], "ner": [[1, 0, "x"]]})"), kInput, "got 1 to 0");
  EXPECT_ERROR(read(R"({"tokenized_text": ["a"], "ner": [[0, "x"]]})"), kInput,
               "expected [first word, last word, label]");
  EXPECT_ERROR(read(R"({"tokenized_text": "a", "ner": []})"), kInput, "tokenized_text: expected an array");
  EXPECT_ERROR(read(R"({"tokenized_text": ["a", 1], "ner": []})"), kInput, "tokenized_text/1: expected a string");
  EXPECT_ERROR(read(R"({"tokens": ["a", "b"], "ner_tags": ["O"]})"), kInput,
               "ner_tags: expected 2, one for each word, got 1");
  EXPECT_ERROR(read(R"({"text": "a", "entities": [], "labels": [""]})"), kInput,
               "labels: expected texts, got an empty one");
}

}  // namespace
}  // namespace deberta::entity_rows_test
