// Rows with a class against predictions and against a model; bad rows; stopping.
#include "eval/examples.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "eval/eval_case.h"
#include "support/expect_error.h"

namespace deberta::examples_test {
namespace {

constexpr const char* kGold = "sentence\tlabel\ngood\t1\nbad\t0\nfine\t1\nworse\t0\n";
constexpr const char* kBroken = "sentence\tlabel\ngood\t1\nbroken\nbad\t0\n";

class Examples : public test::EvalCase {
 protected:
  ExampleSettings settings(const std::string& gold, const std::string& predictions) {
    ExampleSettings settings{.input = {.files = {write("gold.tsv", gold)}}};
    if (!predictions.empty()) settings.predictions = write("answers.tsv", "index\tprediction\n" + predictions);
    return settings;
  }
  const TaskRow& task_ = find_task("sst-2");
};

TEST_F(Examples, PredictionsHaveTheirAccuracyWithAnInterval) {
  const AnsweredRows rows = answer_examples(task_, settings(kGold, "0\t1\n1\t0\n2\t0\n3\t0\n9\t1\n"), {}, hooks());
  EXPECT_EQ(rows.result.predictions, 5u);
  EXPECT_EQ(rows.result.unused_predictions, 1u);
  EXPECT_EQ(written(rows), "index\tprediction\n0\t1\n1\t0\n2\t0\n3\t0\n");
  EXPECT_EQ(progress_, (std::vector<size_t>{0, 1, 2, 3, 4}));
  progress_.clear();
  const EvalResult result = score(rows, {.samples = 10}, hooks());
  EXPECT_EQ(value(result, "accuracy"), 0.75);
  EXPECT_TRUE(result.metrics.front().low.has_value());
  EXPECT_EQ(result.samples, 10u);
  EXPECT_EQ(progress_.size(), 11u);
}

// The same weights, whose scores have their names in another order.
TEST_F(Examples, SeveralScoresOfAModelGoByTheirNames) {
  const TaskRow& task = find_task("regression");
  ExampleSettings asked = settings("text\ta\tb\ngood\t1\t2\nbad\t3\t1\nfine\t0\t0\n", "");
  asked.input.label_fields = {"a", "b"};
  const auto answers_of = [&](const std::vector<std::string>& names) {
    return answer_examples(task, asked, model(Head::kSequence, names), hooks());
  };
  const AnsweredRows in_order = answers_of({"a", "b"}), turned = answers_of({"b", "a"});
  const auto swapped = [](const std::string& text) {  // "0\tx,y" as "0\ty,x"
    std::string all;
    for (size_t at = 0; at < text.size();) {
      const size_t tab = text.find('\t', at), comma = text.find(',', at), end = text.find('\n', at);
      if (comma > end)
        all += text.substr(at, end + 1 - at);
      else
        all += text.substr(at, tab + 1 - at) + text.substr(comma + 1, end - comma - 1) + "," +
               text.substr(tab + 1, comma - tab - 1) + "\n";
      at = end + 1;
    }
    return all;
  };
  EXPECT_EQ(written(turned), swapped(written(in_order)));
  EXPECT_NE(written(turned), written(in_order));
  const EvalResult result = score(in_order, {.samples = 0});
  EXPECT_DOUBLE_EQ(value(result, "mse"), (value(result, "mse_a") + value(result, "mse_b")) / 2);
  EXPECT_EQ(written(answers_of({"LABEL_0", "LABEL_1"})), written(in_order)) << "without names by their order";
  EXPECT_ERROR(answers_of({"a", "c"}), kTask, "got 2 classes: a, c");
  EXPECT_ERROR(answers_of({"a", "b", "c"}), kTask,
               "expected a model with the 2 scores a, b for regression, got 3 classes");
  asked.input.label_fields = {"a"};
  EXPECT_ERROR(answers_of({"a", "b"}), kTask, "expected a model with one score for regression, got 2 classes");
}

TEST_F(Examples, WithoutAModelThereMustBePredictions) {
  EXPECT_ERROR(answer_examples(task_, settings(kGold, ""), {}), kUsage, "predictions: expected a file or a model");
  EXPECT_ERROR(answer_examples(task_, settings(kGold, "0\t1\n"), {}), kInput,
               "expected a prediction for each of 4 rows, got none for 3");
  ExampleSettings other = settings(kGold, "0\t1\n");
  other.input.labels_file = other.predictions;
  EXPECT_ERROR(answer_examples(task_, other, {}), kUsage, "labels_file: expected the task alphanli and one file");
}

TEST_F(Examples, ABadRowFailsIsReportedOrIsSkipped) {
  const ExampleSettings broken = settings(kBroken, "0\t1\n1\t1\n2\t1\n");
  EXPECT_ERROR(answer_examples(task_, broken, {}, hooks()), kInput,
               "gold.tsv:3: expected 2 columns, got 1; on_bad_row=report counts the other rows");
  EXPECT_TRUE(bad_.empty());
  const AnsweredRows reported = answer_examples(task_, broken, {}, hooks(BadRows::kReport));
  ASSERT_EQ(bad_.size(), 1u);
  EXPECT_EQ(bad_[0], broken.input.files[0] + ":3: expected 2 columns, got 1");
  EXPECT_EQ(reported.result.rows, 3u);
  EXPECT_EQ(reported.result.failed, 1u);
  EXPECT_EQ(value(score(reported, {.samples = 0}), "accuracy"), 0.5);
  const AnsweredRows skipped = answer_examples(task_, broken, {}, hooks(BadRows::kSkip));
  EXPECT_EQ(skipped.result.failed, 1u);
  EXPECT_EQ(bad_.size(), 1u);
}

// A remedy for the row stays in front of the remedy for all bad rows.
TEST_F(Examples, ABadRowKeepsItsRemedies) {
  ExampleSettings short_texts = settings("sentence\tlabel\na text of many words\t1\n", "");
  short_texts.rules.encode.max_tokens = 3;
  short_texts.rules.long_text = LongText::kRefuse;
  EXPECT_ERROR(answer_examples(task_, short_texts, model(Head::kSequence, {"0", "1"}), hooks()), kTextTooLong,
               "split it or cut it with truncate=right; on_bad_row=report counts the other rows");
}

TEST_F(Examples, ARunThatIsStoppedHasNoResult) {
  const ExampleSettings predicted = settings(kGold, "0\t1\n1\t0\n2\t0\n3\t0\n");
  const AnsweredRows rows = answer_examples(task_, predicted, {}, hooks());
  is_stopped_ = true;
  EXPECT_THROW(answer_examples(task_, predicted, {}, hooks()), EvalStopped);
  EXPECT_THROW(answer_examples(task_, settings(kGold, ""), model(Head::kSequence, {"0", "1"}), hooks()), EvalStopped);
  EXPECT_THROW(score(rows, {}, hooks()), EvalStopped);
}

TEST_F(Examples, AModelsAnswersAreThoseThatAreWritten) {
  const AnsweredRows rows =
      answer_examples(task_, settings(kGold, ""), model(Head::kSequence, {"negative", "positive"}), hooks());
  EXPECT_EQ(opened_, 1u);
  const double accuracy = value(score(rows, {.samples = 0}), "accuracy");
  ExampleSettings again = settings(kGold, "");
  again.predictions = write("written.tsv", written(rows));
  EXPECT_EQ(value(score(answer_examples(task_, again, {}), {.samples = 0}), "accuracy"), accuracy);
}

TEST_F(Examples, TextsAboveTheLimitAreCounted) {
  ExampleSettings cut = settings(kGold, "");
  cut.rules.encode.max_tokens = 3;
  cut.rules.encode.truncate = Truncate::kRight;
  const AnsweredRows rows = answer_examples(task_, cut, model(Head::kSequence, {"0", "1"}), hooks());
  EXPECT_GT(rows.result.cut.rows, 0u);
  EXPECT_EQ(rows.result.cut.of, 4u);
  EXPECT_EQ(rows.result.cut.max_tokens, 3u);
}

TEST_F(Examples, PredictionsThatNoRowHasAreNoAnswers) {
  const TaskRow& open = find_task("classification");
  const std::string gold = "text\tlabel\na\tgood\nb\tbad\n";
  EXPECT_ERROR(answer_examples(open, settings(gold, "0\tx\n1\ty\n"), {}), kInput,
               "expected predictions with the labels of the rows (good, bad), got only others (x, y)");
  EXPECT_EQ(value(score(answer_examples(open, settings(gold, "0\tx\n1\tbad\n"), {}), {.samples = 0}), "accuracy"), 0.5);
}

TEST_F(Examples, FilesAreCheckedWithoutAModel) {
  const TaskRow& open = find_task("classification");
  const ExampleInput input = settings("text\tlabel\na\tgood\nb\tbad\n", "").input;
  size_t seen = 0;
  check_examples(open, input, {"bad", "good"}, {}, [&](const Example&) { ++seen; });
  EXPECT_EQ(seen, 2u);
  EXPECT_ERROR(check_examples(open, input, {"bad", "fair"}), kTask, "the same holds for 1 of 2 rows");
  EXPECT_ERROR(check_examples(task_, settings(kBroken, "").input, {}), kInput, "gold.tsv:3");
}

TEST_F(Examples, SlicesHaveTheMetricsOfTheirRows) {
  ExampleSettings sliced =
      settings("sentence\tlabel\ttopic\na\t1\tx\nb\t0\ty\nc\t1\tx\nd\t0\t\n", "0\t1\n1\t1\n2\t0\n3\t0\n");
  sliced.input.by = "topic";
  const EvalResult result = score(answer_examples(task_, sliced, {}), {.samples = 20});
  EXPECT_EQ(value(result, "accuracy"), .5);
  EXPECT_EQ(result.by, "topic");
  EXPECT_EQ(result.sliced_rows, 4u);
  EXPECT_EQ(result.without_slice, 1u);
  ASSERT_EQ(result.slices.size(), 2u);
  EXPECT_EQ(result.slices[0].value, "x");
  EXPECT_EQ(result.slices[0].rows, 2u);
  EXPECT_EQ(result.slices[0].metrics.at(0).value, .5);
  EXPECT_TRUE(result.slices[0].metrics.at(0).low.has_value());
  EXPECT_EQ(result.slices[1].metrics.at(0).value, 0);
}

TEST_F(Examples, SlicesTakeThePlaceOfGenres) {
  ExampleSettings genres = settings("premise\thypothesis\tlabel\tgenre\na\tb\tneutral\tx\na\tb\tneutral\ty\n",
                                    "0\tneutral\n1\tentailment\n");
  const TaskRow& mnli = find_task("mnli");
  EXPECT_EQ(score(answer_examples(mnli, genres, {}), {.samples = 0}).metrics.size(), 3u);
  genres.input.by = "genre";
  const EvalResult sliced = score(answer_examples(mnli, genres, {}), {.samples = 0});
  EXPECT_EQ(sliced.metrics.size(), 1u);
  EXPECT_EQ(sliced.slices.at(1).metrics.at(0).value, 0);
}

// The scores are those that the answers of the model show, and the loss that of its logits.
TEST_F(Examples, ThresholdsAndTheLogLossAreThoseOfTheModelsScores) {
  ExampleSettings asked = settings(kGold, "");
  asked.asked = {.names = {"log_loss"}, .precision_at_recall = {1}};
  const EvalResult result =
      score(answer_examples(task_, asked, model(Head::kSequence, {"positive", "negative"}), hooks()), {.samples = 0});
  EXPECT_EQ(Json(result.settings).dump(), R"({"positive-label": "1"})");
  const std::vector<TextInput> texts = {{"good"}, {"bad"}, {"fine"}, {"worse"}};
  const auto logits = classify(*pipeline_, texts, {{}, ScoreFunction::kNone});
  const auto scores = classify(*pipeline_, texts, {{}, ScoreFunction::kSoftmax});
  double loss = 0, threshold = 1;
  for (size_t i = 0; i < texts.size(); ++i) {
    const bool is_good = i % 2 == 0;  // the model's first class is the task's second label
    const double margin = double{logits[i].scores[0]} - double{logits[i].scores[1]};
    loss += std::log1p(std::exp(is_good ? -margin : margin)) / 4;
    if (is_good) threshold = std::min(threshold, as_shown(scores[i].scores[0]));
  }
  EXPECT_NEAR(value(result, "log_loss"), loss, 1e-12);
  EXPECT_EQ(value(result, "threshold@recall=1/1"), threshold);
  EXPECT_EQ(value(result, "recall@recall=1/1"), 1);
}

TEST_F(Examples, TheLogLossNeedsProbabilities) {
  ExampleSettings asked = settings(kGold, "");
  asked.asked.names = {"log_loss"};
  const OpenModel open = model(Head::kSequence, {"0", "1"});
  const OpenModel many_at_once = [&]() -> const Pipeline& {
    open();
    pipeline_->config.problem_type = ProblemType::kMultiLabel;
    return *pipeline_;
  };
  EXPECT_ERROR(answer_examples(task_, asked, many_at_once, hooks()), kTask,
               "eval: log_loss: expected a model whose scores are probabilities of one class each");
}

TEST_F(Examples, WhatCannotBeAskedIsRefusedBeforeTheRows) {
  ExampleSettings asked = settings("sentence\tlabel\n", "");
  asked.asked = {.positive_label = "eggs", .best_threshold = true};
  EXPECT_ERROR(answer_examples(task_, asked, model(Head::kSequence, {"0", "1"}), hooks()), kUsage,
               "positive_label: expected one of the labels 0, 1, got \"eggs\"");
  asked = settings(kGold, "0\t1\n1\t0\n2\t0\n3\t0\n");
  asked.asked.best_threshold = true;
  EXPECT_ERROR(answer_examples(task_, asked, {}), kUsage, "best_threshold: expected a model that answers");
}

TEST_F(Examples, FilesWithoutLabelsHaveNoMetricsOrAnError) {
  const AnsweredRows rows = answer_examples(task_, settings("sentence\na\nb\n", "0\t1\n1\t0\n"), {});
  EXPECT_ERROR(score(rows, {}), kInput, "got none of 2 (0 failed, 2 without a label)");
  const EvalResult result = score(rows, {.needs_labels = false});
  EXPECT_FALSE(result.has_labels());
  EXPECT_FALSE(result.metrics.front().value.has_value());
}

}  // namespace
}  // namespace deberta::examples_test
