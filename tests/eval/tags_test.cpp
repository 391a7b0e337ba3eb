// CoNLL columns against predictions and against a model.
#include "eval/tags.h"

#include <gtest/gtest.h>

#include <string>

#include "eval/eval_case.h"
#include "support/expect_error.h"

namespace deberta::tags_test {
namespace {

constexpr const char* kGoldTags = "Ada NNP B-PER\nLee NNP I-PER\nran V O\n\nRome NNP B-LOC\n";

class Tags : public test::EvalCase {
 protected:
  TagSettings settings(const std::string& gold, const std::string& predictions) {
    TagSettings settings{.files = {write("gold.conll", gold)}};
    if (!predictions.empty()) settings.predictions = write("answers.conll", predictions);
    return settings;
  }
  const TaskRow& task_ = find_task("ner");
};

TEST_F(Tags, PredictionsAreCountedByEntities) {
  const AnsweredRows rows =
      answer_tags(task_, settings(kGoldTags, "Ada B-PER\nLee I-PER\nran O\n\nRome B-ORG\n"), {}, hooks());
  EXPECT_EQ(written(rows), "Ada B-PER B-PER\nLee I-PER I-PER\nran O O\n\nRome B-LOC B-ORG\n\n");
  const EvalResult result = score(rows, {.samples = 5, .seed = 1}, hooks());
  EXPECT_EQ(value(result, "f1"), 0.5);
  EXPECT_EQ(value(result, "accuracy"), 0.75);
  EXPECT_EQ(result.rows, 2u);
}

TEST_F(Tags, PredictionsHaveTheSameWords) {
  EXPECT_ERROR(answer_tags(task_, settings(kGoldTags, "Ada B-PER\nLea I-PER\nran O\n\nRome O\n"), {}), kInput,
               "answers.conll:1: expected the words of ");
}

TEST_F(Tags, ABadSentenceFailsBeforeTheModelIsOpenedOrIsReported) {
  const std::string broken = "Ada B-PER\n\nBob\n\nran O\n";
  EXPECT_ERROR(answer_tags(task_, settings(broken, ""), model(Head::kToken, {"O", "B-PER"}), hooks()), kInput,
               "on_bad_row=report counts the other rows");
  EXPECT_EQ(opened_, 0u);
  const AnsweredRows rows =
      answer_tags(task_, settings(broken, "Ada B-PER\n\nBob O\n\nran O\n"), {}, hooks(BadRows::kReport));
  EXPECT_EQ(bad_.size(), 1u);
  EXPECT_EQ(rows.result.failed, 1u);
  EXPECT_EQ(value(score(rows, {.samples = 0}), "f1"), 1);
}

// Tags go by class, whatever the names: reversing the map swaps the tags.
TEST_F(Tags, AModelsTagsAreItsOwnOrThoseOfTheMap) {
  TagSettings own = settings(kGoldTags, "");
  const OpenModel open = model(Head::kToken, {"O", "B-PER"});
  std::string tags = written(answer_tags(task_, own, open, hooks()));
  own.label_map = {"B-PER", "O"};
  const std::string turned = written(answer_tags(task_, own, open, hooks()));
  ASSERT_NE(tags, turned);
  const auto swap = [](std::string text) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
      const size_t end = text.find('\n', at), last = text.rfind(' ', end);
      const std::string line = text.substr(at, end - at);
      if (!line.empty()) out += text.substr(at, last + 1 - at) + (line.ends_with(" O") ? "B-PER" : "O");
      out += '\n';
      at = end + 1;
    }
    return out;
  };
  EXPECT_EQ(swap(tags), turned);
  own.label_map = {"O"};
  EXPECT_ERROR(answer_tags(task_, own, open), kTask, "label_map: expected 2 names in the model's order, got 1");
  own.label_map = {"O", "B-DRUG"};
  EXPECT_ERROR(answer_tags(task_, own, open), kTask, "give its tags in order with label_map");
}

TEST_F(Tags, LongSentencesAreReadInWindows) {
  std::string sentence;
  for (int i = 0; i < 40; ++i) sentence += "word" + std::to_string(i) + " O\n";
  TagSettings small = settings(sentence, "");
  small.rules.encode.max_tokens = 20;
  small.rules.stride = 4;
  const AnsweredRows rows = answer_tags(task_, small, model(Head::kToken, {"O", "B-PER"}), hooks());
  EXPECT_EQ(rows.result.cut.rows, 0u);
  small.rules.long_text = LongText::kCut;
  small.rules.encode.truncate = Truncate::kRight;
  EXPECT_EQ(answer_tags(task_, small, model(Head::kToken, {"O", "B-PER"}), hooks()).result.cut.rows, 1u);
}

}  // namespace
}  // namespace deberta::tags_test
