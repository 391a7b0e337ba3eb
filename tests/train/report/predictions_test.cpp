// The answers of an evaluation: as a file, as figures, as tables.
#include "train/report/predictions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.h"
#include "train/report/prediction_tables.h"
#include "train/report/report_case.h"

namespace deberta::train::predictions_test {
namespace {

using test::times_in;

PredictedRow answer(std::string gold, std::string predicted, std::optional<double> p_gold = {}) {
  return {.where = "f:1", .text = "t", .gold = std::move(gold), .predicted = std::move(predicted), .p_gold = p_gold};
}
PredictedRow tags(std::vector<std::string> gold, std::vector<std::string> predicted) {
  return {.where = "f:1", .text = "t", .gold_tags = std::move(gold), .predicted_tags = std::move(predicted)};
}
PredictedRow score(double gold, double predicted) {
  return {.where = "f:1", .text = "t", .gold_score = gold, .predicted_score = predicted};
}

// Three a, two b, one c; b is once taken for a, c for b.
PredictedRows classes() {
  return {PredictionKind::kClass,
          {answer("a", "a", 0.9), answer("b", "a", 0.2), answer("a", "a", 0.6), answer("c", "b", 0.1),
           answer("b", "b", 0.5), answer("a", "a", 0.7)}};
}

TEST(PredictionFigures, CountEachClass) {
  const std::vector<ClassFigures> figures = class_figures(classes());
  ASSERT_EQ(figures.size(), 3u);
  EXPECT_EQ(figures[0].name, "a");
  EXPECT_EQ(figures[0].precision(), 3.0 / 4);
  EXPECT_EQ(figures[0].recall(), 1);
  EXPECT_EQ(figures[0].f1(), 6.0 / 7);
  EXPECT_EQ(figures[1].precision(), 1.0 / 2);
  EXPECT_EQ(figures[1].recall(), 1.0 / 2);
  EXPECT_EQ(figures[2].support, 1u);
  EXPECT_EQ(figures[2].precision(), 0) << "never the answer";
  EXPECT_EQ(figures[2].f1(), 0);
}

TEST(PredictionFigures, PutWhatIsRightInRowsAndAnswersInColumns) {
  EXPECT_EQ(confusion(classes(), {"a", "b", "c"}),
            (std::vector<std::vector<uint64_t>>{{3, 0, 0}, {1, 1, 0}, {0, 1, 0}}));
  EXPECT_EQ(confusion(classes(), {"b"}), (std::vector<std::vector<uint64_t>>{{1}}));
}

TEST(PredictionFigures, CountEntitiesOfTags) {
  const PredictedRows predictions{
      PredictionKind::kTags,
      {tags({"B-PER", "I-PER", "O", "B-LOC"}, {"B-PER", "I-PER", "O", "O"}), tags({"B-PER", "I-PER"}, {"B-PER", "O"})}};
  const std::vector<ClassFigures> figures = class_figures(predictions);
  ASSERT_EQ(figures.size(), 2u);
  EXPECT_EQ(figures[0].name, "LOC");
  EXPECT_EQ(figures[0].recall(), 0);
  EXPECT_EQ(figures[1].precision(), 0.5) << "half an entity is none";
  EXPECT_EQ(figures[1].recall(), 0.5);
}

TEST(WorstRows, HaveTheLowestProbabilityOfTheRightClassFirst) {
  EXPECT_EQ(worst_rows(classes(), 3), (std::vector<size_t>{3, 1, 4}));
  EXPECT_EQ(worst_rows(classes(), 99).size(), 6u);
  EXPECT_TRUE(worst_rows({}, 20).empty());
}

TEST(WorstRows, WithoutProbabilitiesAreThoseThatAreWrong) {
  EXPECT_EQ(worst_rows({PredictionKind::kClass, {answer("a", "a"), answer("a", "b"), answer("b", "a")}}, 20),
            (std::vector<size_t>{1, 2}));
  EXPECT_EQ(worst_rows({PredictionKind::kTags,
                        {tags({"O"}, {"O"}), tags({"O", "O"}, {"O", "B-X"}), tags({"O", "O"}, {"B-X", "B-X"})}},
                       20),
            (std::vector<size_t>{2, 1}));
}

TEST(WorstRows, OfScoresHaveTheLargestErrors) {
  EXPECT_EQ(worst_rows({PredictionKind::kScore, {score(1, 1.5), score(5, 1), score(2, 2), score(1, NAN)}}, 20),
            (std::vector<size_t>{3, 1, 0}));
}

TEST(PredictionFiles, AreReadAsTheyWereWritten) {
  const test::RunCase run;
  PredictedRows three[] = {classes(),
                           {PredictionKind::kTags, {tags({"B-\"X\"", "O"}, {"O", "O"})}},
                           {PredictionKind::kScore, {score(1.25, -3)}}};
  three[0].rows[1].pair = "a second\ntext";
  for (const PredictedRows& written : three) {
    write_predictions(run.path("p"), written);
    const PredictedRows read = load_predictions(run.path("p"));
    EXPECT_EQ(read.kind, written.kind);
    ASSERT_EQ(read.rows.size(), written.rows.size());
    for (size_t i = 0; i < read.rows.size(); ++i) {
      const PredictedRow &a = read.rows[i], &b = written.rows[i];
      EXPECT_TRUE(a.where == b.where && a.text == b.text && a.pair == b.pair && a.gold == b.gold &&
                  a.predicted == b.predicted && a.gold_tags == b.gold_tags && a.predicted_tags == b.predicted_tags &&
                  a.gold_score == b.gold_score && a.predicted_score == b.predicted_score && a.p_gold == b.p_gold);
    }
  }
}

PredictedRows several_scores() {
  PredictedRows predictions{PredictionKind::kScores, {}, {"b", "a"}};
  predictions.rows = {{.where = "f:1", .text = "t", .gold_scores = {1, 2}, .predicted_scores = {1, 2.5}},
                      {.where = "f:2", .text = "u", .gold_scores = {1, 2}, .predicted_scores = {4, 6}}};
  return predictions;
}

TEST(PredictionFiles, HaveSeveralScoresByTheirNames) {
  const test::RunCase run;
  write_predictions(run.path("p"), several_scores());
  const PredictedRows read = load_predictions(run.path("p"));
  EXPECT_EQ(read.kind, PredictionKind::kScores);
  EXPECT_EQ(read.scores, (std::vector<std::string>{"b", "a"}));
  EXPECT_EQ(read.rows[1].predicted_scores, (std::vector<double>{4, 6}));
  EXPECT_EQ(score_error(read.kind, read.rows[1]), std::sqrt(12.5));
  EXPECT_EQ(worst_rows(read, 20), (std::vector<size_t>{1, 0}));
  EXPECT_NE(prediction_tables(read).find("<td>b 4, a 6</td>"), std::string::npos);
  run.write("p", "{\"where\": \"f\", \"text\": \"t\", \"gold\": {\"a\": 1}, \"predicted\": {\"b\": 1}}\n");
  EXPECT_ERROR(load_predictions(run.path("p")), kJson, "predicted: expected an object of a, got");
}

TEST(PredictionFiles, ThatAreDamagedAreRefusedWithTheirLine) {
  const test::RunCase run;
  const std::string good = "{\"where\": \"f:1\", \"text\": \"t\", \"gold\": \"a\", \"predicted\": \"b\"}\n";
  const std::pair<const char*, const char*> cases[] = {
      {"{", "p:2"},
      {"[]", "p:2: expected an object"},
      {"{\"where\": \"f\", \"text\": \"t\", \"gold\": 1, \"predicted\": \"b\"}", "gold: expected a string, got 1"},
      {"{\"where\": \"f\", \"gold\": \"a\", \"predicted\": \"b\"}", "text: missing"},
      {"{\"where\": \"f\", \"text\": \"t\", \"gold\": \"a\", \"predicted\": \"b\", \"p_gold\": \"x\"}",
       "p_gold: expected"}};
  for (const auto& [line, message] : cases) {
    run.write("p", good + line + "\n");
    EXPECT_ERROR(load_predictions(run.path("p")), kJson, message);
  }
  run.write("p", "{\"where\": \"f\", \"text\": \"t\", \"gold\": [\"O\", \"O\"], \"predicted\": [\"O\"]}\n");
  EXPECT_ERROR(load_predictions(run.path("p")), kJson, "predicted: expected 2 tags as in gold, got 1");
}

TEST(PredictionTables, ShowFiguresConfusionAndWorstRows) {
  PredictedRows predictions = classes();
  predictions.rows[3].text = "<b>bold</b>";
  const std::string html = prediction_tables(predictions);
  EXPECT_NE(html.find("<td>a</td><td>0.750</td><td>1.000</td><td>0.857</td><td>3</td><td>4</td>"), std::string::npos);
  EXPECT_NE(html.find("<td style=\"--share:0.500\">1</td>"), std::string::npos) << "of its row";
  EXPECT_NE(html.find("&lt;b&gt;bold&lt;/b&gt;"), std::string::npos);
  EXPECT_LT(html.find("&lt;b&gt;bold"), html.find("<div>t</div>")) << "the worst first";
  EXPECT_EQ(html.find("second text"), std::string::npos);
}

TEST(PredictionTables, ShowTwentyRowsAndThirtyClassesAtMost) {
  PredictedRows predictions;
  for (int i = 0; i < 40; ++i) predictions.rows.push_back(answer("class" + std::to_string(i), "other", 0.1));
  predictions.rows[7].text = std::string(1499, 'x').append("\xC3\xA4 and more");
  const std::string html = prediction_tables(predictions);
  EXPECT_EQ(times_in("<td>f:1</td>", html), 20u);
  EXPECT_NE(html.find("The 30 most frequent of 41 classes."), std::string::npos);
  EXPECT_NE(html.find("x &hellip;"), std::string::npos) << "cut between characters";
}

TEST(PredictionTables, OfTagsAndScoresHaveNoConfusion) {
  const std::string tagged =
      prediction_tables({PredictionKind::kTags, {tags({"B-LOC", "O"}, {"O", "O"}), tags({"O"}, {"O"})}});
  EXPECT_NE(tagged.find("word 1: B-LOC, got O"), std::string::npos);
  EXPECT_NE(tagged.find("<td>LOC</td>"), std::string::npos);
  const std::string scored = prediction_tables({PredictionKind::kScore, {score(1, 3.5)}});
  EXPECT_NE(scored.find("<td>2.5</td><td>1</td><td>3.5</td>"), std::string::npos);
  for (const std::string& html : {tagged, scored}) EXPECT_EQ(html.find("Confusion"), std::string::npos);
  EXPECT_NE(prediction_tables({PredictionKind::kScore, {score(1, 1)}}).find("No row has a wrong answer"),
            std::string::npos);
}

}  // namespace
}  // namespace deberta::train::predictions_test
