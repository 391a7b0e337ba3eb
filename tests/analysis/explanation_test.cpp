// What the explorer receives of masks, of words at them and of replaced tokens.
#include "analysis/explanation.h"

#include <gtest/gtest.h>

#include <cmath>

#include "decode/text_score.h"
#include "support/paths.h"
#include "support/tiny_pipeline.h"

namespace deberta::explanation_test {
namespace {

class Explained : public testing::Test {
 protected:
  const test::TemporaryFolder folder_, other_folder_;
  const Pipeline pipeline_ = test::tiny_pipeline(folder_, Head::kMaskedLm, {}, 0);
  const Tokenizer& tokenizer_ = pipeline_.tokenizer;

  JsonArray predictions(const std::string& text, size_t top_k, DecoderEffect& effect) const {
    effect = decoder_effect(pipeline_.model, tokenizer_.encode(text), tokenizer_.special().mask);
    return predictions_json(effect, tokenizer_, top_k);
  }
};

TEST_F(Explained, AMaskHasItsBestWordsInEachForm) {
  DecoderEffect effect;
  const JsonArray masks = predictions("a [MASK] b", 3, effect);
  ASSERT_EQ(masks.size(), 1u);
  EXPECT_EQ(masks[0].find("token")->as_integer(), static_cast<int64_t>(effect.masks[0]));
  EXPECT_EQ(masks[0].find("swapped"), nullptr) << "one mask has no other";
  for (const auto& [name, predictions] : {std::pair{"with", &effect.with}, std::pair{"without", &effect.without},
                                          std::pair{"shifted", &effect.shifted}}) {
    const JsonArray& best = masks[0].find(name)->as_array();
    ASSERT_EQ(best.size(), 3u) << name;
    double most = 0;
    for (size_t id = 0; id < tokenizer_.size(); ++id)
      most = std::max(most, std::exp(log_probability(predictions->logits_MV, static_cast<int32_t>(id))));
    EXPECT_NEAR(best[0].find("score")->as_number(), most, 1e-6) << name;
    EXPECT_GE(best[0].find("score")->as_number(), best[1].find("score")->as_number()) << name;
    EXPECT_TRUE(best[0].find("token_str")->is_string()) << name;
  }
}

TEST_F(Explained, TwoMasksAreSwappedToo) {
  DecoderEffect effect;
  const JsonArray masks = predictions("[MASK] a [MASK]", 1, effect);
  ASSERT_EQ(masks.size(), 2u);
  for (const Json& mask : masks) EXPECT_EQ(mask.find("swapped")->as_array().size(), 1u);
}

TEST_F(Explained, PassesTakeThePlaceOfLayers) {
  const Encoding encoding = tokenizer_.encode("a [MASK]");
  const Json all =
      explanation_json(pipeline_.config, tokenizer_, encoding, decoder_terms(pipeline_.model, encoding), "passes");
  EXPECT_EQ(all.find("passes")->as_integer(), 2);
  EXPECT_EQ(all.find("layers"), nullptr);
  EXPECT_EQ(all.find("tokens")->as_array().size(), encoding.size());
}

TEST_F(Explained, FillingsHaveTheirWords) {
  const JsonArray all = fillings_json({{{"a", "b"}, -1.5, -2.5}});
  EXPECT_EQ(Json(all).dump(), R"([{"words": ["a", "b"], "with": -1.5, "without": -2.5}])");
}

TEST_F(Explained, DrawsAreThoseOfMaskedTokens) {
  const Pipeline judges = test::tiny_pipeline(other_folder_, Head::kReplacedToken, {}, 0);
  const Encoding encoding = tokenizer_.encode("a b c d e f");
  const ReplacedWalk walk =
      replaced_walk(pipeline_.model, judges.model, tokenizer_, encoding, {.share = 0.5, .seed = 3});
  const Json all = walk_json(walk, tokenizer_, encoding);
  const JsonArray& tokens = all.find("tokens")->as_array();
  ASSERT_EQ(tokens.size(), walk.steps.size());
  for (size_t i = 0; i < tokens.size(); ++i) {
    const ReplacedStep& step = walk.steps[i];
    EXPECT_EQ(tokens[i].find("text")->as_string(), tokenizer_.piece(encoding.ids[i]));
    EXPECT_EQ(tokens[i].find("is_masked")->as_bool(), step.is_masked);
    EXPECT_EQ(tokens[i].find("drawn")->is_null(), !step.is_masked);
    EXPECT_EQ(tokens[i].find("drawn_probability")->is_null(), !step.is_masked);
    EXPECT_EQ(tokens[i].find("is_replaced")->as_bool(), step.is_replaced);
    EXPECT_EQ(tokens[i].find("replaced_probability")->as_number(), step.replaced_probability);
  }
  EXPECT_EQ(all.find("signal")->find("generator")->as_integer(), static_cast<int64_t>(walk.masked));
  EXPECT_EQ(all.find("signal")->find("discriminator")->as_integer(), static_cast<int64_t>(tokens.size()));
  EXPECT_EQ(all.find("losses")->find("generator")->as_number(), walk.generator_loss);
  EXPECT_EQ(all.find("losses")->find("discriminator")->as_number(), walk.discriminator_loss);
}

}  // namespace
}  // namespace deberta::explanation_test
