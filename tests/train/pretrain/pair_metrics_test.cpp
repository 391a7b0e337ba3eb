// The metrics of a pair in a log, by hand.
#include "train/pretrain/pair_metrics.h"

#include <ATen/TensorOperators.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "train/step/trainer_case.h"

namespace deberta::train::pair_metrics_test {
namespace {

std::map<std::string, double> named(const Metrics& metrics) {
  return {metrics.begin(), metrics.end()};
}

// There are 200 tokens: 30 are replaced and 20 flagged, 12 rightly: 8 wrong flags, 18 missed.
TEST(PairMetrics, AreThoseOfTheStepsTogether) {
  PairStep step;
  step.generator = {.loss = 60, .divisor = 20, .count = 20, .correct = 5, .norm = 2};
  step.discriminator = {.loss = 50, .divisor = 100, .count = 100, .correct = 87, .norm = 4};
  step.replaced = 15;
  step.flagged = 10;
  step.detected = 6;
  Sums sums;
  for (int n = 0; n < 2; ++n) {
    sums["steps"] += 1;
    add_to_sums(step, 0.5, 0.25, sums);
  }
  std::map<std::string, double> got = named(pair_metrics(sums, 10));
  EXPECT_EQ(got["loss"], 3 + 10 * 0.5);
  EXPECT_EQ(got["generator_loss"], 3);
  EXPECT_EQ(got["generator_perplexity"], std::exp(3.0));
  EXPECT_EQ(got["generator_accuracy"], 0.25);
  EXPECT_EQ(got["generator_grad_norm"], 2);
  EXPECT_EQ(got["generator_learning_rate"], 0.5);
  EXPECT_EQ(got["generator_labels_per_step"], 20);
  EXPECT_EQ(got["discriminator_loss"], 0.5);
  EXPECT_EQ(got["discriminator_accuracy"], 0.87);
  EXPECT_EQ(got["discriminator_precision"], 0.6);
  EXPECT_EQ(got["discriminator_recall"], 0.4);
  EXPECT_EQ(got["discriminator_grad_norm"], 4);
  EXPECT_EQ(got["discriminator_learning_rate"], 0.25);
  EXPECT_EQ(got["discriminator_labels_per_step"], 100);
  EXPECT_EQ(got["replaced_share"], 0.15);
}

TEST(PairMetrics, LeaveOutADiscriminatorThatWaits) {
  PairStep step;
  step.generator = {.loss = 60, .divisor = 20, .count = 20};
  Sums sums;
  sums["steps"] += 1;
  add_to_sums(step, 0.5, 0.25, sums);
  const std::map<std::string, double> got = named(pair_metrics(sums, 10));
  EXPECT_EQ(got.at("loss"), 3);
  EXPECT_EQ(got.count("discriminator_loss"), 0u);
  EXPECT_EQ(got.count("replaced_share"), 0u);
}

TEST(PairMetrics, CosinesOfTablesAreMeansOverRows) {
  const Model generator = test::small_model(Head::kMaskedLm, 1);
  Model discriminator = test::small_model(Head::kReplacedToken, 2);
  const at::Tensor table = discriminator.embeddings.word_VE.detach();
  table.copy_(generator.embeddings.word_VE.detach() * 3);
  EXPECT_NEAR(named(table_cosines(discriminator, generator))["table_cosine_words"], 1, 1e-12);
  for (int row = 1; row <= 10; ++row) table[row].neg_();  // 10 of 39 rows; the padding's is zero
  EXPECT_NEAR(named(table_cosines(discriminator, generator))["table_cosine_words"], (29.0 - 10.0) / 39.0, 1e-7);
}

Model model_with_positions(Head head, uint64_t seed) {
  Model model =
      make_model({.config = new_config({.overrides = {"num_hidden_layers=1", "hidden_size=16", "num_attention_heads=2",
                                                      "position_buckets=8", "position_biased_input=true"},
                                        .vocab_size = 40}),
                  .head = head});
  initialise(model, seed);
  return model;
}

double mean_cosine_of(const at::Tensor& a_RE, const at::Tensor& b_RE) {
  double sum = 0;
  int rows = 0;
  for (int64_t r = 0; r < a_RE.size(0); ++r) {
    double ab = 0, aa = 0, bb = 0;
    for (int64_t e = 0; e < a_RE.size(1); ++e) {
      const auto a = a_RE[r][e].item<double>(), b = b_RE[r][e].item<double>();
      ab += a * b;
      aa += a * a;
      bb += b * b;
    }
    if (aa == 0 || bb == 0) continue;
    sum += ab / std::sqrt(aa) / std::sqrt(bb);
    ++rows;
  }
  return sum / rows;
}

TEST(PairMetrics, CosinesOfPositionsAreThoseOfTheirTables) {
  const Model generator = model_with_positions(Head::kMaskedLm, 1);
  Model discriminator = model_with_positions(Head::kReplacedToken, 2);
  const at::Tensor table = discriminator.embeddings.position_PE.detach();
  for (int64_t row = 0; row < table.size(0); row += 3) table[row].copy_(generator.embeddings.position_PE.detach()[row]);
  table[4].zero_();
  const std::map<std::string, double> got = named(table_cosines(discriminator, generator));
  const Embeddings &d = discriminator.embeddings, &g = generator.embeddings;
  EXPECT_NEAR(got.at("table_cosine_positions"), mean_cosine_of(d.position_PE.detach(), g.position_PE.detach()), 1e-12);
  EXPECT_NEAR(got.at("table_cosine_words"), mean_cosine_of(d.word_VE.detach(), g.word_VE.detach()), 1e-12);
  EXPECT_GT(got.at("table_cosine_positions"), 0.3) << "every third row is the same";
}

TEST(PairMetrics, ADiscriminatorWithoutPositionsHasNoCosineOfThem) {
  const Model generator = test::small_model(Head::kMaskedLm, 1),
              discriminator = test::small_model(Head::kReplacedToken, 2);
  EXPECT_EQ(named(table_cosines(discriminator, generator)).count("table_cosine_positions"), 0u);
}

}  // namespace
}  // namespace deberta::train::pair_metrics_test
