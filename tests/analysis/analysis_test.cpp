// The terms of attention add up, and the rows of the relative table are those of the formula.
#include "deberta/analysis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "analysis/explanation.h"
#include "deberta/checkpoint.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tiny_model.h"
#include "support/tiny_pipeline.h"

namespace deberta::analysis_test {
namespace {

class Analysis : public testing::Test {
 protected:
  Model make(const ModelConfig& config) {
    test::write_tiny_model(folder_.path(), config, Head::kNone, 0);
    return Model::load(Checkpoint::open(folder_.path()), config, {.threads = 1});
  }
  static Encoding encoding_of(std::vector<int32_t> ids) {
    Encoding encoding;
    encoding.ids = std::move(ids);
    return encoding;
  }
  test::TemporaryFolder folder_;
};

TEST_F(Analysis, TheWeightsOfTheValuesAreTheSoftmaxOfTheSumOfTheTerms) {
  const ModelConfig config = test::tiny_config();
  const Model model = make(config);
  const AttentionTerms terms = attention_terms(model, encoding_of({1, 5, 9, 5, 2}));
  EXPECT_EQ(terms.tokens, 5u);
  EXPECT_EQ(terms.heads, static_cast<size_t>(config.num_attention_heads));
  ASSERT_EQ(terms.layers.size(), static_cast<size_t>(config.num_hidden_layers));
  for (const LayerTerms& layer : terms.layers) {
    ASSERT_EQ(layer.sum_HLL.size(), terms.heads * 25);
    ASSERT_EQ(layer.c2p_HLL.size(), layer.sum_HLL.size());
    ASSERT_EQ(layer.p2c_HLL.size(), layer.sum_HLL.size());
    for (size_t row = 0; row < terms.heads * 5; ++row) {
      double total = 0;
      for (size_t j = row * 5; j < row * 5 + 5; ++j) total += std::exp(static_cast<double>(layer.sum_HLL[j]));
      for (size_t j = row * 5; j < row * 5 + 5; ++j) {
        EXPECT_EQ(layer.sum_HLL[j], layer.c2c_HLL[j] + layer.c2p_HLL[j] + layer.p2c_HLL[j]);
        EXPECT_NEAR(layer.softmax_HLL[j], std::exp(static_cast<double>(layer.sum_HLL[j])) / total, 2e-6);
      }
    }
  }
}

TEST_F(Analysis, OnlyTheLayersAskedForAreGiven) {
  const Model model = make(test::tiny_config());
  const AttentionTerms all = attention_terms(model, encoding_of({1, 5, 2}));
  const AttentionTerms second = attention_terms(model, encoding_of({1, 5, 2}), {2});
  ASSERT_EQ(second.layers.size(), 1u);
  EXPECT_EQ(second.layers[0].layer, 2);
  EXPECT_EQ(second.layers[0].c2p_HLL, all.layers.at(1).c2p_HLL);
  EXPECT_ERROR(attention_terms(model, encoding_of({1}), {0}), kInput, "expected 1..");
  EXPECT_ERROR(attention_terms(model, encoding_of({1}), {2, 1}), kInput, "ascending");
}

TEST_F(Analysis, ATermThatTheModelLacksIsEmpty) {
  ModelConfig config = test::tiny_config();
  config.has_p2c = false;
  const AttentionTerms terms = attention_terms(make(config), encoding_of({1, 5, 2}));
  EXPECT_TRUE(terms.layers.at(0).p2c_HLL.empty());
  EXPECT_EQ(terms.layers.at(0).sum_HLL.at(1), terms.layers.at(0).c2c_HLL.at(1) + terms.layers.at(0).c2p_HLL.at(1));
}

TEST_F(Analysis, TheScaleThatIsReportedIsTheEnginesWhateverTheConfigurationNames) {
  const auto scale_of = [&](const ModelConfig& config) {
    const test::TemporaryFolder folder;
    const Pipeline pipeline = test::tiny_pipeline(folder, config, Head::kNone, 0);
    const Encoding encoding = pipeline.tokenizer.encode("a film");
    const Json all =
        explanation_json(pipeline.config, pipeline.tokenizer, encoding, attention_terms(pipeline.model, encoding));
    return all.find("scale")->as_number();
  };
  ModelConfig config = test::tiny_config();
  const auto size = static_cast<double>(config.attention_head_size);
  EXPECT_DOUBLE_EQ(scale_of(config), 1 / std::sqrt(3 * size));
  config.relative_attention = false;  // the terms that are named count all the same
  EXPECT_DOUBLE_EQ(scale_of(config), 1 / std::sqrt(3 * size));
}

TEST(RelativePositionRows, AreLinearNearTheDiagonalAndLogarithmicBeyond) {
  ModelConfig config;
  config.relative_attention = true;
  config.position_buckets = 256;
  config.max_relative_positions = 512;
  const std::vector<int32_t> rows = relative_position_rows(config, 512);
  ASSERT_EQ(rows.size(), 1023u);
  const auto row = [&](int distance) { return rows[static_cast<size_t>(distance + 511)]; };
  EXPECT_EQ(row(0), 256);
  EXPECT_EQ(row(-128), 128);
  EXPECT_EQ(row(127), 383);
  EXPECT_EQ(row(511), 511);
  EXPECT_EQ(row(-511), 1);
}

TEST(RelativePositionRows, WithoutBucketsAreTheClampedDistance) {
  ModelConfig config;
  config.relative_attention = true;
  config.max_relative_positions = 3;
  EXPECT_EQ(relative_position_rows(config, 6), (std::vector<int32_t>{0, 0, 0, 1, 2, 3, 4, 5, 5, 5, 5}));
}

TEST(RelativePositionRows, OfAGlinerModelAreThoseOfTransformers) {
  ModelConfig config;
  config.relative_attention = true;
  config.position_buckets = 256;
  config.max_relative_positions = 512;
  const std::vector<int32_t> original = relative_position_rows(config, 700),
                             of_transformers = relative_position_rows(config, 700, DistanceRule::kHf);
  EXPECT_NE(original, of_transformers);
  config.extraction.emplace();
  EXPECT_EQ(relative_position_rows(config, 700), of_transformers);
}

TEST(RelativePositionRows, RefuseWhatHasNoTable) {
  ModelConfig config;
  EXPECT_ERROR(relative_position_rows(config, 4), kInput, "no relative table");
  config.relative_attention = true;
  EXPECT_ERROR(relative_position_rows(config, 0), kInput, "expected 1..");
}

}  // namespace
}  // namespace deberta::analysis_test
