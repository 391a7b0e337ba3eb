// Means, standard errors and differences, by hand; results written and read; arithmetic of a known model.
#include "train/ablation/summary.h"

#include <gtest/gtest.h>

#include <cmath>

#include "cost/operations.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "train/ablation/flops.h"

namespace deberta::train::summary_test {
namespace {

CellResult result_of(const std::string& form, int64_t seed, double cola, double rte) {
  return {.form = form,
          .seed = seed,
          .hash = "h",
          .tokens = 1000,
          .flops = 2e12,
          .seconds = 60,
          .pretraining = {{"perplexity", 30.0 - cola}, {"masked_pieces", 500}},
          .tasks = {{"cola", cola}, {"rte", rte}}};
}

Plan two_forms() {
  return {
      .model = "",
      .corpora = {"a"},
      .tasks = {{"cola", "m", {}}, {"rte", "a", {}}},
      .forms = {{"full", "whole", {}, {}, {1, 2, 3}}, {"-C2P", "less", {}, {}, {1, 2, 3}}, {"later", "", {}, {}, {1}}},
      .reference = "full"};
}

TEST(Estimates, HaveTheStandardErrorOfTheirMean) {
  const Estimate three = estimate({1, 2, 6});
  EXPECT_EQ(three.count, 3u);
  EXPECT_NEAR(three.mean, 3, 1e-12);
  EXPECT_NEAR(three.error, std::sqrt((4.0 + 1 + 9) / 2 / 3), 1e-12);
  EXPECT_TRUE(std::isnan(estimate({5}).error));
  EXPECT_EQ(estimate({}).count, 0u);
}

TEST(Summaries, DifferencesArePairedBySeed) {
  // The seeds are far apart, the forms differ by about one: paired, that is clear.
  const Summary summary = summarize(
      two_forms(), {result_of("full", 1, 10, 50), result_of("full", 2, 20, 60), result_of("full", 3, 30, 70),
                    result_of("-C2P", 1, 9, 50), result_of("-C2P", 2, 18.9, 60), result_of("-C2P", 3, 29.1, 70)});
  EXPECT_EQ(summary.columns, (std::vector<std::string>{"perplexity", "cola", "rte", "mean of tasks"}));
  EXPECT_EQ(summary.finished, 6u);
  EXPECT_EQ(summary.cells, 7u);
  ASSERT_EQ(summary.rows.size(), 2u);
  const SummaryRow& row = summary.rows[1];
  EXPECT_NEAR(row.values[1].mean, 19, 1e-9);
  EXPECT_GT(row.values[1].error, 5);
  EXPECT_NEAR(row.differences[1].mean, -1, 1e-9);
  EXPECT_NEAR(row.differences[1].error, 0.1 / std::sqrt(3.0), 1e-9);
  EXPECT_TRUE(is_beyond_two_errors(row.differences[1]));
  EXPECT_FALSE(is_beyond_two_errors(row.differences[2])) << "no difference at all";
  EXPECT_NEAR(row.differences[3].mean, -0.5, 1e-9);
  EXPECT_EQ(summary.rows[0].differences[1].count, 0u);
}

TEST(Summaries, OneSeedIsNoWin) {
  const Summary summary = summarize(two_forms(), {result_of("full", 1, 10, 50), result_of("-C2P", 1, 90, 50)});
  EXPECT_FALSE(is_beyond_two_errors(summary.rows[1].differences[1]));
  EXPECT_EQ(
      summarize(two_forms(), {result_of("full", 1, 10, 50), result_of("-C2P", 2, 9, 50)}).rows[1].differences[1].count,
      0u)
      << "other seeds are no pair";
}

TEST(Summaries, AreTablesWithWhatIsClearMarked) {
  const Summary summary = summarize(two_forms(), {result_of("full", 1, 10, 50), result_of("full", 2, 20, 60),
                                                  result_of("-C2P", 1, 9, 50), result_of("-C2P", 2, 18.9, 60)});
  const std::string text = markdown_of(summary), page = page_of(summary, "a <plan>");
  EXPECT_NE(text.find("-1.0500 ± 0.0500 *"), std::string::npos) << text;
  EXPECT_NE(text.find("| 2.00e+12 |"), std::string::npos) << text;
  EXPECT_NE(page.find("a &lt;plan&gt;"), std::string::npos);
  EXPECT_NE(page.find("4 of 7 runs"), std::string::npos);
  EXPECT_NE(page.find("<b>*</b>"), std::string::npos);
  size_t charts = 0;
  for (size_t at = 0; (at = page.find("<figure>", at)) != std::string::npos; ++at) ++charts;
  EXPECT_EQ(charts, 4u);
}

TEST(Summaries, DrawThePositionsThatHadALoss) {
  Summary summary = summarize(two_forms(), {result_of("full", 1, 10, 50), result_of("-C2P", 1, 9, 50)});
  EXPECT_EQ(page_of(summary, "plan").find("Positions with a loss"), std::string::npos) << "there are no logs";
  summary.rows[0].signal = {{.name = "pieces predicted", .points = {{0, 0}, {100, 15}}}};
  summary.rows[1].signal = {{.name = "pieces predicted by the generator", .points = {{0, 0}, {100, 15}}},
                            {.name = "tokens judged by the discriminator", .points = {{0, 0}, {100, 98}}}};
  const std::string page = page_of(summary, "plan");
  for (const char* part : {"Positions with a loss", "pieces predicted by the generator", "full, pieces predicted: 15",
                           "-C2P, tokens judged by the discriminator: 98"})
    EXPECT_NE(page.find(part), std::string::npos) << part;
}

TEST(Summaries, OfFineTuningAloneHaveNoTokensOfPreTraining) {
  CellResult tuned = result_of("full", 1, 10, 50);
  tuned.tokens = tuned.flops = 0;
  const Summary summary = summarize(two_forms(), {tuned});
  EXPECT_NE(markdown_of(summary).find("| seeds | time |\n"), std::string::npos) << markdown_of(summary);
  EXPECT_NE(markdown_of(summary).find("| 1 | 1 min 00 s |\n"), std::string::npos) << markdown_of(summary);
  EXPECT_EQ(page_of(summary, "plan").find("FLOPs"), std::string::npos);
}

TEST(Results, AreReadAsTheyWereWrittenAndOnlyForTheirOptions) {
  const CellResult result = result_of("full", 2, 0.125, 50);
  const CellResult again = parse_result(to_json(result), "r.json");
  EXPECT_EQ(to_json(again).dump(), to_json(result).dump());
  test::TemporaryFolder folder;
  test::write_text(folder.path("full-seed2.json"), to_json(result).dump());
  Cell cell{.name = "full-seed2", .form = "full", .seed = 2, .pretrain = {}, .finetune = {}, .hash = "h"};
  EXPECT_TRUE(find_result(cell, {folder.path("none"), folder.path()}));
  cell.hash = "other";
  EXPECT_FALSE(find_result(cell, {folder.path()}));
  EXPECT_ERROR(parse_result(parse_json(R"({"form": "a"})", "x"), "x.json"), kInput, "expected the result of a cell");
}

TEST(Flops, AreThoseOfAPassForwardAndBackward) {
  ModelConfig config;
  config.vocab_size = 10;
  config.position_biased_input = false;
  const int32_t length = 8;
  PassShape shape{.lengths = {&length, 1}, .head = Head::kReplacedToken};
  EXPECT_EQ(training_flops_per_token(config, 8, 0), 3 * forward_operations(config, shape).all() / 8);
  shape = {.lengths = {&length, 1},
           .last = LastRows::kSome,
           .some = 2,
           .head = Head::kMaskedLm,
           .predicts_by_decoder = true};
  EXPECT_EQ(training_flops_per_token(config, 8, 0.25), 3 * forward_operations(config, shape).all() / 8);
  config.position_biased_input = true;
  shape.predicts_by_decoder = false;
  EXPECT_EQ(training_flops_per_token(config, 8, 0.25), 3 * forward_operations(config, shape).all() / 8);
}

}  // namespace
}  // namespace deberta::train::summary_test
