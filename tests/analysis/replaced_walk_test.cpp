// Mask, draw, label, judge: against the models' own logits.
#include <gtest/gtest.h>

#include <cmath>

#include "deberta/analysis.h"
#include "decode/text_score.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tiny_pipeline.h"

namespace deberta::replaced_walk_test {
namespace {

class ReplacedWalk : public testing::Test {
 protected:
  const test::TemporaryFolder folder_, other_folder_;
  const Pipeline generator_ = test::tiny_pipeline(folder_, Head::kMaskedLm, {}, 0);
  const Pipeline discriminator_ = test::tiny_pipeline(other_folder_, Head::kReplacedToken, {}, 0);
  const Encoding encoding_ = generator_.tokenizer.encode("a b c d e f");

  deberta::ReplacedWalk walk(const ReplacedWalkOptions& options) const {
    return replaced_walk(generator_.model, discriminator_.model, generator_.tokenizer, encoding_, options);
  }
  static std::vector<float> logits_of(const Model& model, const std::vector<int32_t>& ids) {
    Batch batch;
    batch.add(ids);
    ForwardResult result;
    model.forward(batch, {}, result);
    return result.logits;
  }
};

TEST_F(ReplacedWalk, LossesAreThoseOfTheLogits) {
  const auto steps = walk({.share = 0.5, .seed = 3}).steps;
  ASSERT_EQ(steps.size(), encoding_.size());
  std::vector<int32_t> masked, drawn;
  for (const ReplacedStep& step : steps) {
    masked.push_back(step.is_masked ? generator_.tokenizer.special().mask : step.token);
    drawn.push_back(step.drawn);
  }
  EXPECT_NE(masked, encoding_.ids);
  const std::vector<float> guesses = logits_of(generator_.model, masked), x = logits_of(discriminator_.model, drawn);
  const size_t words = guesses.size() / steps.size();
  for (size_t i = 0; i < steps.size(); ++i) {
    const ReplacedStep& step = steps[i];
    EXPECT_EQ(step.token, encoding_.ids[i]);
    EXPECT_EQ(step.is_replaced, step.drawn != step.token);
    EXPECT_NEAR(step.replaced_probability, 1 / (1 + std::exp(-double{x[i]})), 1e-6);
    const double right = step.is_replaced ? step.replaced_probability : 1 - step.replaced_probability;
    EXPECT_NEAR(step.discriminator_loss, -std::log(right), 1e-5);
    if (!step.is_masked) {
      EXPECT_EQ(step.drawn, step.token);
      EXPECT_EQ(step.generator_loss, 0);
      continue;
    }
    const auto logits_V = std::span(guesses).subspan(i * words, words);
    EXPECT_NEAR(step.generator_loss, -log_probability(logits_V, step.token), 1e-5);
    EXPECT_NEAR(step.drawn_probability, std::exp(log_probability(logits_V, step.drawn)), 1e-6);
  }
}

TEST_F(ReplacedWalk, MeansAreOverTheMaskedAndOverAllTokens) {
  const auto whole = walk({.share = 0.5, .seed = 3});
  double generator = 0, discriminator = 0;
  size_t masked = 0;
  for (const ReplacedStep& step : whole.steps) {
    generator += step.generator_loss;
    discriminator += step.discriminator_loss;
    masked += step.is_masked;
  }
  EXPECT_EQ(whole.masked, masked);
  EXPECT_NEAR(whole.generator_loss, generator / static_cast<double>(masked), 1e-12);
  EXPECT_NEAR(whole.discriminator_loss, discriminator / static_cast<double>(whole.steps.size()), 1e-12);
}

TEST_F(ReplacedWalk, IsAFunctionOfTheSeedAndTheNumber) {
  const auto drawn = [&](const ReplacedWalkOptions& options) {
    std::vector<int32_t> ids;
    for (const ReplacedStep& step : walk(options).steps) ids.push_back(step.drawn);
    return ids;
  };
  const ReplacedWalkOptions one{.share = 1, .seed = 1};
  EXPECT_EQ(drawn(one), drawn(one));
  EXPECT_NE(drawn(one), drawn({.share = 1, .seed = 2}));
  EXPECT_NE(drawn(one), drawn({.share = 1, .seed = 1, .number = 2}));
  EXPECT_EQ(walk({.share = 1}).masked, encoding_.size() - 2) << "never [CLS] and [SEP]";
  EXPECT_EQ(walk({.share = 0}).masked, 1u);
}

TEST_F(ReplacedWalk, RefusesModelsOfAnotherKind) {
  EXPECT_ERROR(replaced_walk(discriminator_.model, discriminator_.model, generator_.tokenizer, encoding_), kTask,
               "generator: expected a masked language model");
  EXPECT_ERROR(replaced_walk(generator_.model, generator_.model, generator_.tokenizer, encoding_), kTask,
               "discriminator: expected a head for replaced tokens, got masked-lm");
}

}  // namespace
}  // namespace deberta::replaced_walk_test
