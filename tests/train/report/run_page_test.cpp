// run.html: every part of it, from the record of a run.
#include "train/report/run_page.h"

#include <gtest/gtest.h>

#include "train/report/charts.h"
#include "train/report/report_case.h"
#include "train/state/event_log.h"

namespace deberta::train::run_page_test {
namespace {

using test::RunCase;
using test::times_in;

std::string page_of(const RunRecord& record) {
  return make_run_page(record, std::nullopt);
}
bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(RunPages, ShowAWholeRun) {
  const RunCase run;
  run.make_whole();
  const std::string page = page_of(run.record());
  EXPECT_TRUE(holds(page, "masked language model; finished, 20 of 20 steps"));
  for (const char* chart :
       {"Loss", "Learning rate", "Norm of the gradient before the clip", "Speed", "Evaluation: accuracy"})
    EXPECT_TRUE(holds(page, std::string("aria-label=\"") + chart)) << chart;
  EXPECT_EQ(times_in("<figure>", page), 5u);
  EXPECT_EQ(times_in("class=\"division\"", page), 10u) << "where it went on, in each chart, and its key";
  EXPECT_TRUE(holds(page, "loss: <tspan class=\"strong\">2.25</tspan>"));
  EXPECT_TRUE(holds(page, "<td>accuracy</td><td>0.5</td><td>0.5</td><td>20</td><td>2</td>"));
  EXPECT_TRUE(holds(page, "<td>batch-size</td><td><code>8</code></td>"));
  EXPECT_TRUE(holds(page, "<td>corpus a.txt</td><td><code>12 tokens</code></td>"));
  EXPECT_TRUE(holds(page, "SHA-256 of corpora and tokenizer"));
  EXPECT_TRUE(
      holds(page, "<td>1970-01-01 00:16:41 UTC</td><td>10</td><td>resumed</td><td>from checkpoint-000010</td>"));
  EXPECT_FALSE(holds(page, "What to know about this run"));
}

TEST(RunPages, HaveATableOfTheClassesAndChartTheMetricThatDecidesFirst) {
  RunRecord record{.folder = "run"};
  LoggedLine line{.step = 5, .metrics = {{"eval_accuracy", .5}, {"eval_f1_macro", .25}}};
  for (int number = 0; number < 77; ++number) {
    const std::string name = "card_" + std::to_string(number) + "/x";
    line.metrics.emplace_back("eval_f1/" + name, .125);
    line.metrics.emplace_back("eval_support/" + name, number);
  }
  record.log = {line};
  std::string page = page_of(record);
  EXPECT_EQ(times_in("<figure>", page), 2u);
  EXPECT_LT(page.find("aria-label=\"Evaluation: accuracy"), page.find("aria-label=\"Evaluation: f1 macro"));
  EXPECT_TRUE(holds(page, "<th>class</th><th>f1</th><th>support</th>"));
  EXPECT_TRUE(holds(page, "<td>card_76/x</td><td>0.125</td><td>76</td>"));
  EXPECT_FALSE(holds(page, "f1/card")) << "neither a tile nor a row for each";
  record.state = TrainerState{.step = 5};
  record.state->best = BestMetric{"eval_f1_macro", .25, 5};
  page = page_of(record);
  EXPECT_LT(page.find("aria-label=\"Evaluation: f1 macro"), page.find("aria-label=\"Evaluation: accuracy"));
}

TEST(RunPages, SayThatTheTimeWasOver) {
  const RunCase run;
  run.make_whole();
  RunRecord record = run.record();
  record.results = parse_json("{\"steps\": 20, \"out_of_time\": true}", "results");
  record.state->total_steps = 30;
  record.events.push_back({.step = 20, .kind = event::kOutOfTime, .text = "the model is that of step 20"});
  EXPECT_TRUE(holds(page_of(record), "out of time, 20 of 30 steps"));
  EXPECT_FALSE(holds(page_of(record), "What to know about this run"));
  record.events.push_back({.step = 20, .kind = event::kResumed});
  EXPECT_TRUE(holds(page_of(record), "not finished, 20 of 30 steps"));
}

TEST(RunPages, AreOneFileThatRunsAndLoadsNothing) {
  const RunCase run;
  run.make_whole();
  const std::string page = page_of(run.record());
  for (const char* foreign : {"<script", "<link", "<img", "http://", "https://", "@import", "url("})
    EXPECT_FALSE(holds(page, foreign)) << foreign;
  EXPECT_TRUE(holds(page, "prefers-color-scheme: dark"));
  EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
}

TEST(RunPages, MarkTheBestOfTheCheckpointsThatAreKept) {
  const RunCase run;
  run.make_whole();
  RunRecord record = run.record();
  EXPECT_EQ(best_checkpoint(record), (BestMetric{"eval_accuracy", 0.5, 20}));
  EXPECT_TRUE(
      holds(page_of(record), "<code>checkpoint-000020</code></td><td>20</td><td><span class=\"badge\">best</span>"));
  record.log.back().metrics.front() = {"eval_accuracy", 0.125};
  EXPECT_EQ(best_checkpoint(record)->step, 10);
  for (LoggedLine& line : record.log) {
    if (line.metrics.front().first == "eval_accuracy") line.metrics.front().first = "eval_perplexity";
  }
  EXPECT_EQ(best_checkpoint(record)->step, 20) << "the lower the better";
  record.state->best = BestMetric{"eval_f1", 0.75, 10};
  EXPECT_EQ(best_checkpoint(record)->name, "eval_f1") << "what the run says";
}

TEST(RunPages, WarnOfWhatWentWrongOnceForEachKind) {
  RunRecord record{.folder = "run"};
  record.damage = {"metrics.jsonl: 2 lines are damaged, the first is line 7"};
  record.events = {{.step = 3, .kind = event::kSkippedStep, .text = "not finite"},
                   {.step = 4, .kind = event::kSkippedStep, .text = "not finite"},
                   {.step = 5, .kind = event::kStopped}};
  const std::string page = page_of(record);
  EXPECT_TRUE(holds(page, "<li>skipped step: not finite (step 3, the first of 2 times)</li>"));
  EXPECT_TRUE(holds(page, "<li>metrics.jsonl: 2 lines are damaged, the first is line 7</li>"));
  EXPECT_EQ(times_in("<li>", page), 2u);
  EXPECT_TRUE(holds(page, "stopped, 0 of 0 steps"));
}

TEST(RunPages, EscapeEverythingThatComesFromOutside) {
  const std::string evil = "<script>\"&'";
  RunRecord record{.folder = "a/" + evil};
  record.log = {{.step = 1, .metrics = {{evil, 1}, {"eval_" + evil, 2}}}};
  record.events = {{.step = 1, .kind = evil, .text = evil, .details = {{evil, evil}}},
                   {.step = 1, .kind = event::kBegan, .text = evil, .details = {{evil, evil}}}};
  record.state = TrainerState{.step = 1, .options = {{evil, evil}, {"task", evil}}, .hashes = {{evil, evil}}};
  record.state->best = BestMetric{evil, 1, 1};
  record.checkpoints = {1};
  record.damage = {evil};
  PredictedRows predictions{PredictionKind::kClass,
                            {{.where = evil, .text = evil, .pair = evil, .gold = evil, .predicted = evil + "x"}}};
  const std::string page = make_run_page(record, predictions);
  EXPECT_FALSE(holds(page, "<script"));
  EXPECT_GE(times_in("&lt;script&gt;&quot;&amp;&#39;", page), 20u);
}

TEST(RunPages, OfARunWithoutAnythingYetAreShort) {
  const std::string page = page_of({.folder = "run"});
  EXPECT_TRUE(holds(page, "not finished, 0 of 0 steps"));
  EXPECT_FALSE(holds(page, "<figure>"));
  EXPECT_FALSE(holds(page, "<h2>Checkpoints"));
}

TEST(RunPages, HaveASectionForTheAnswersOfTheEvaluation) {
  const PredictedRows predictions{PredictionKind::kScore, {{.where = "f:1", .text = "t", .gold_score = 1}}};
  EXPECT_TRUE(holds(make_run_page({.folder = "run"}, predictions), "The largest errors"));
}

TEST(Charts, PutMetricsOfAKindTogetherAndLeaveNoneOut) {
  RunRecord record;
  record.log = {{.step = 1,
                 .metrics = {{"generator_loss", 1},
                             {"discriminator_loss", 1},
                             {"discriminator_precision", 1},
                             {"discriminator_recall", 1},
                             {"grad_norm", 1},
                             {"discriminator_grad_norm", 1},
                             {"table_cosine_word", 1},
                             {"table_cosine_position", 1},
                             {"something_new", 1},
                             {"tokens", 1},
                             {"perplexity", 1},
                             {"generator_perplexity", 1},
                             {"discriminator_labels_per_step", 1}}}};
  const std::string html = training_charts(record);
  for (const char* title : {"Loss\"", "Loss of the discriminator", "Precision and recall of replaced tokens",
                            "Norm of the gradient before the clip", "Cosine of the embedding tables", "something new"})
    EXPECT_EQ(times_in(std::string("aria-label=\"") + title, html), 1u) << title;
  EXPECT_EQ(times_in("<figure>", html), 6u);
  EXPECT_EQ(times_in("class=\"line c1\" d=\"M1 5H19\"", html), 3u) << "of two lines each";
}

}  // namespace
}  // namespace deberta::train::run_page_test
