// Files of entities in every form, and a model's answers to them.
#include "eval/entities.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "eval/eval_case.h"
#include "support/expect_error.h"
#include "support/tiny_extractor.h"

namespace deberta::entities_test {
namespace {

constexpr const char* kColumns = "-DOCSTART- O\n\nAda B-PER\nKing I-PER\nwas O\nin O\nRome B-LOC\n\nIt O\nrained O\n";
constexpr const char* kRows =
    "{\"tokenized_text\": [\"Ada\", \"King\", \"was\", \"in\", \"Rome\"], \"ner\": [[0, 1, \"PER\"], [4, 4, "
    "\"LOC\"]]}\n"
    "{\"text\": \"It rained\", \"entities\": []}\n";
constexpr const char* kTagged =
    "{\"tokens\": [\"Ada\", \"King\", \"was\", \"in\", \"Rome\"], \"ner_tags\": [\"B-PER\", \"I-PER\", \"O\", \"O\", "
    "\"B-LOC\"]}\n{\"tokens\": [\"It\", \"rained\"], \"ner_tags\": [\"O\", \"O\"]}\n";

class Entities : public test::EvalCase {
 protected:
  EntityRows read(EntityFiles files) {
    return read_entity_files(files, [] { return false; });
  }
  OpenModel extractor() {
    return [this]() -> const Pipeline& {
      ++opened_;
      pipeline_.emplace(test::tiny_extractor(folder_, {.hidden_size = 8, .max_width = 3, .num_rnn_layers = 0}));
      return *pipeline_;
    };
  }
  const TaskRow& task_ = find_task("extract");
};

TEST_F(Entities, AllFormsGiveTheSameRows) {
  const EntityRows columns = read({.files = {write("valid.txt", kColumns)}});
  for (const std::string& path : {write("valid.jsonl", kRows), write("tagged.jsonl", kTagged)}) {
    const EntityRows rows = read({.files = {path}});
    ASSERT_EQ(rows.rows.size(), columns.rows.size()) << path;
    for (size_t n = 0; n < rows.rows.size(); ++n) {
      EXPECT_EQ(rows.rows[n].text, columns.rows[n].text) << path;
      EXPECT_EQ(rows.rows[n].entities, columns.rows[n].entities) << path;
    }
  }
  EXPECT_EQ(columns.labels(), (std::vector<std::string>{"LOC", "PER"}));
  const EntityRows array = read(
      {.files = {write("array.json", R"([{"text": "Ada", "entities": [{"start": 0, "end": 3, "label": "x"}]}])")}});
  EXPECT_EQ(array.rows.front().entities, (std::vector<LabelledSpan>{{0, 3, "x"}}));
}

TEST_F(Entities, LabelsGetOtherNames) {
  const std::string path = write("valid.txt", kColumns);
  const EntityRows rows = read({.files = {path}, .label_names = {{"PER", "person"}}});
  EXPECT_EQ(rows.labels(), (std::vector<std::string>{"LOC", "person"}));
  EXPECT_ERROR(read({.files = {path}, .label_names = {{"PERS", "person"}}}), kUsage,
               "expected labels of the files (LOC, PER), got PERS");
  EXPECT_NO_THROW(read({.files = {path}, .label_names = {{"PERS", "person"}}, .needs_names = false}));
}

TEST_F(Entities, RepairedRowsAreCounted) {
  const std::string text = "\xff B-PER\n\nIt O\n\nA\xff B-PER\n\xff O\n\n";
  EXPECT_EQ(read({.files = {write("a.txt", text)}}).repaired, 2u);
  EXPECT_EQ(read({.files = {write("a.txt", text), write("b.txt", text)}}).repaired, 4u);
}

TEST_F(Entities, AFormatWithoutEntitiesIsRefused) {
  EXPECT_ERROR(read({.files = {write("a.csv", "text,label\n")}}), kUsage, "expected rows in jsonl");
  EXPECT_ERROR(read({.files = {write("b.txt", "Ada B-PER\n")}, .format = RowForm::kText}), kUsage, "got text");
}

TEST_F(Entities, BadRowsKeepTheirPlace) {
  const std::string path = write("bad.jsonl", std::string("{\"text\": 1}\nnothing\n") + kRows);
  EXPECT_ERROR(answer_entities(task_, {.input = {.files = {path}}}, extractor(), hooks()), kInput,
               "bad.jsonl:1: text: expected a string");
  const AnsweredRows rows = answer_entities(task_, {.input = {.files = {path}}}, extractor(), hooks(BadRows::kReport));
  EXPECT_EQ(rows.result.rows, 4u);
  EXPECT_EQ(rows.result.failed, 2u);
  EXPECT_EQ(bad_.size(), 2u);
}

// What the evaluation counts is what extract() finds with all labels of the files.
TEST_F(Entities, AModelsEntitiesAreThoseOfExtract) {
  EntitySettings settings{.input = {.files = {write("valid.jsonl", kRows)}}};
  settings.options.threshold = 0.4;
  const AnsweredRows answered = answer_entities(task_, settings, extractor(), hooks());
  const EvalResult result = score(answered, {.samples = 0}, hooks());
  ExtractOptions options = settings.options;
  options.labels = {entity_label("LOC"), entity_label("PER")};
  const std::vector<TextInput> inputs = {{.text = "Ada King was in Rome"}, {.text = "It rained"}};
  size_t found = 0, right = 0;
  const std::vector<LabelledSpan> gold = {{0, 8, "PER"}, {16, 20, "LOC"}};
  const std::vector<TokenAnswer> answers = extract(*pipeline_, inputs, options);
  for (size_t n = 0; n < answers.size(); ++n) {
    for (const Entity& entity : answers[n].entities) {
      const LabelledSpan span{entity.bytes.begin, entity.bytes.end, entity.label};
      ++found;
      right += n == 0 && std::ranges::find(gold, span) != gold.end();
    }
  }
  ASSERT_GT(found, 0u);
  EXPECT_DOUBLE_EQ(value(result, "precision"), static_cast<double>(right) / static_cast<double>(found));
  EXPECT_EQ(value(result, "support/PER"), 1);
}

TEST_F(Entities, ARowsOwnLabelsAreReadWithThoseOfItsEntities) {
  EntityRow row{.where = "row", .entities = {{0, 1, "b"}}, .labels = std::vector<std::string>{"c", "a"}};
  EXPECT_EQ(labels_of(row, {"x", "y"}), (std::vector<std::string>{"a", "b", "c"}));
  row.labels.reset();
  EXPECT_EQ(labels_of(row, {"x", "y"}), (std::vector<std::string>{"x", "y"}));
}

TEST_F(Entities, WhatCannotBeEvaluated) {
  const std::string none = write("none.jsonl", "{\"text\": \"It rained\", \"entities\": []}\n");
  EXPECT_ERROR(answer_entities(task_, {.input = {.files = {none}}}, extractor()), kInput,
               "none.jsonl: expected rows with entities, got none");
  const std::string path = write("valid.jsonl", kRows);
  EXPECT_ERROR(answer_entities(task_, {.input = {.files = {path}}}, model(Head::kToken, {"O", "B-PER"})), kTask,
               "extract: expected a");
  EXPECT_ERROR(answer_entities(task_, {.input = {.files = {path}}}, {}), kUsage, "got neither");
}

TEST_F(Entities, RowsAreHeldOutAndCounted) {
  std::string text;
  for (int n = 0; n < 40; ++n)
    text += R"({"text": "Ada", "entities": [{"start": 0, "end": 3, "label": "x"}]})"
            "\n";
  EntityFiles files{.files = {write("many.jsonl", text)}, .part = RowPart{.share = 0.25, .is_held_out = true}};
  const EntityRows held = read(files);
  EXPECT_EQ(held.rows.size(), 10u);
  EXPECT_EQ(held.left_out, 30u);
  files.part->is_held_out = false;
  EXPECT_EQ(read(files).rows.size(), 30u);
  files.part.reset();
  files.most_rows = 7;
  EXPECT_EQ(read(files).rows.size(), 7u);
}

}  // namespace
}  // namespace deberta::entities_test
