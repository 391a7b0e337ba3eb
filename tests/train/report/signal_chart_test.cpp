// Positions with a loss, counted from logs.
#include "train/report/signal_chart.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "train/report/report_case.h"

namespace deberta::train::signal_chart_test {
namespace {

using test::times_in;

// 1,000 steps of 512,000 tokens, a line for every 100.
std::vector<LoggedLine> masked_words() {
  std::vector<LoggedLine> log;
  for (int64_t step = 100; step <= 1000; step += 100) {
    log.push_back({.step = step,
                   .metrics = {{"perplexity", 9.0},
                               {"labels_per_step", 0.15 * 512000},
                               {"tokens", 512000.0 * static_cast<double>(step)}}});
    if (step % 500 == 0) log.push_back({.step = step, .metrics = {{"eval_accuracy", 0.5}}});
  }
  return log;
}
std::vector<LoggedLine> replaced_tokens() {
  std::vector<LoggedLine> log = masked_words();
  for (LoggedLine& line : log) {
    if (line.metrics.size() == 1) continue;
    line.metrics[0].first = "generator_perplexity";
    line.metrics[1].first = "generator_labels_per_step";
    line.metrics.emplace_back("discriminator_labels_per_step", 512000.0);
  }
  return log;
}

TEST(SignalLines, CountWordsPredictedAndTokensJudged) {
  const std::vector<chart::Line> masked = signal_lines(masked_words());
  ASSERT_EQ(masked.size(), 1u);
  EXPECT_EQ(masked[0].name, "pieces predicted");
  ASSERT_EQ(masked[0].points.size(), 11u) << "the origin and the lines of training";
  EXPECT_EQ(masked[0].points.front(), (chart::Point{0, 0}));
  EXPECT_NEAR(masked[0].points.back().x, 512e6, 1);
  EXPECT_NEAR(masked[0].points.back().y, 76.8e6, 1);
  EXPECT_EQ(masked[0].note, "76.8M");
  const std::vector<chart::Line> replaced = signal_lines(replaced_tokens());
  ASSERT_EQ(replaced.size(), 2u);
  EXPECT_EQ(replaced[0].name, "pieces predicted by the generator");
  EXPECT_EQ(replaced[0].note, "76.8M");
  EXPECT_EQ(replaced[1].name, "tokens judged by the discriminator");
  EXPECT_NEAR(replaced[1].points.back().y, 512e6, 1);
  EXPECT_EQ(replaced[1].note, "512M");
}

TEST(SignalLines, OfADiscriminatorBeginBehindTheStepsOfTheGeneratorAlone) {
  std::vector<LoggedLine> log = replaced_tokens();
  log.front().metrics.pop_back();  // the first 100 steps, and half of the next
  const std::vector<chart::Line> lines = signal_lines(log, 150);
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].points[1].y, 0);
  EXPECT_EQ(lines[1].points[2].y, 50 * 512000.0);
  EXPECT_EQ(lines[1].points.back().y, 850 * 512000.0);
  EXPECT_EQ(lines[0].points.back().y, signal_lines(replaced_tokens())[0].points.back().y);
}

TEST(SignalLines, AreOnlyOfPreTraining) {
  EXPECT_TRUE(signal_lines(std::vector<LoggedLine>{}).empty());
  const std::vector<LoggedLine> tuned = {
      {.step = 5, .metrics = {{"loss", 1}, {"labels_per_step", 32}, {"tokens", 900}, {"eval_perplexity", 2}}}};
  EXPECT_TRUE(signal_lines(tuned).empty());
  std::vector<LoggedLine> log = masked_words();
  log[0].metrics[1].second = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NEAR(signal_lines(log)[0].points.back().y, 0.9 * 76.8e6, 1) << "what is no number is not counted";
}

TEST(SignalChart, SetsRunsBesideEachOther) {
  const RunRecord masked{.folder = "out/masked", .log = masked_words()};
  const std::vector<RunRecord> others = {{.folder = "out/replaced", .log = replaced_tokens()}};
  const std::string alone = signal_chart(masked), both = signal_chart(masked, others);
  EXPECT_EQ(times_in("<figure>", alone), 1u);
  EXPECT_NE(alone.find("pieces predicted: "), std::string::npos) << alone;
  EXPECT_EQ(alone.find("masked:"), std::string::npos);
  for (const char* part : {"masked: pieces predicted", "76.8M", "replaced: tokens judged by the discriminator", "512M",
                           "aria-label=\"Positions with a loss"})
    EXPECT_NE(both.find(part), std::string::npos) << part;
  EXPECT_EQ(signal_chart({.folder = "run"}, others), "");
}

}  // namespace
}  // namespace deberta::train::signal_chart_test
