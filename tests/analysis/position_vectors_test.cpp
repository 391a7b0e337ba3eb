// Vectors of the relative table in both layouts, against plain loops and against the engine's own terms.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "deberta/analysis.h"
#include "support/conversion_case.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tiny_model.h"

namespace deberta::position_vectors_test {
namespace {

class PositionVectors : public testing::Test {
 protected:
  Checkpoint write(const ModelConfig& config) {
    test::write_tiny_model(folder_.path(), config, Head::kNone, 0);
    return Checkpoint::open(folder_.path());
  }
  static Encoding encoding_of(std::vector<int32_t> ids) {
    Encoding encoding;
    encoding.ids = std::move(ids);
    return encoding;
  }
  static ModelConfig unshared() {
    ModelConfig config = test::tiny_config();
    config.share_att_key = false;
    return config;
  }
  test::TemporaryFolder folder_;
};

using Kind = deberta::PositionVectors;

TEST_F(PositionVectors, AreTheTableAndItsNorm) {
  const ModelConfig config = test::tiny_config();
  const Checkpoint checkpoint = write(config);
  const VectorRows raw = position_vectors(checkpoint, config, {Kind::kRaw});
  EXPECT_EQ(raw.rows, 16u);
  EXPECT_EQ(raw.columns, 16u);
  EXPECT_EQ(raw.values, to_fp32(*checkpoint.find("encoder.rel_embeddings.weight")));
  const std::vector<float> gamma = to_fp32(*checkpoint.find("encoder.LayerNorm.weight"));
  const std::vector<float> beta = to_fp32(*checkpoint.find("encoder.LayerNorm.bias"));
  const VectorRows normed = position_vectors(checkpoint, config, {Kind::kNormed});
  for (size_t row = 0; row < raw.rows; ++row) {
    double mean = 0, variance = 0;
    for (size_t d = 0; d < 16; ++d) mean += raw.values[row * 16 + d] / 16.0;
    for (size_t d = 0; d < 16; ++d) variance += std::pow(raw.values[row * 16 + d] - mean, 2) / 16;
    for (size_t d = 0; d < 16; ++d) {
      const double expected = (raw.values[row * 16 + d] - mean) / std::sqrt(variance + 1e-7) * gamma[d] + beta[d];
      EXPECT_NEAR(normed.values[row * 16 + d], expected, 1e-5);
    }
  }
}

TEST_F(PositionVectors, WithoutANormAreTheTableAgain) {
  const ModelConfig config = test::tiny_v1_config();
  const Checkpoint checkpoint = write(config);
  EXPECT_EQ(position_vectors(checkpoint, config, {Kind::kNormed}).values,
            position_vectors(checkpoint, config, {Kind::kRaw}).values);
}

TEST_F(PositionVectors, AHeadIsItsColumnsOfAllHeads) {
  const ModelConfig config = test::tiny_config();
  const Checkpoint checkpoint = write(config);
  for (const Kind kind : {Kind::kKeys, Kind::kQueries}) {
    const VectorRows all = position_vectors(checkpoint, config, {kind, 2});
    const VectorRows second = position_vectors(checkpoint, config, {kind, 2, 1});
    ASSERT_EQ(all.columns, 16u);
    ASSERT_EQ(second.columns, 8u);
    for (size_t row = 0; row < all.rows; ++row) {
      for (size_t k = 0; k < 8; ++k) EXPECT_EQ(second.values[row * 8 + k], all.values[row * 16 + 8 + k]);
    }
  }
}

// c2p[i, j] = score of token i at row(i - j), in every layer, head and layout.
TEST_F(PositionVectors, ScoresOfAQueryAtTheRowsOfATextAreItsC2p) {
  for (const ModelConfig& config : {test::tiny_config(), unshared(), test::tiny_v1_config()}) {
    const Checkpoint checkpoint = write(config);
    const Model model = Model::load(checkpoint, config, {.threads = 1});
    const Encoding encoding = encoding_of({1, 5, 9, 5, 7, 2});
    const AttentionTerms terms = attention_terms(model, encoding);
    const std::vector<int32_t> index_LL = relative_index(config, 6);
    for (int32_t layer = 1; layer <= 2; ++layer) {
      std::vector<double> sums_LL(36);
      for (size_t head = 0; head < 2; ++head) {
        for (size_t i = 0; i < 6; ++i) {
          const std::vector<float> scores_R =
              position_scores(model, checkpoint, encoding, i, {Kind::kKeys, layer, head});
          ASSERT_EQ(scores_R.size(), static_cast<size_t>(2 * config.span()));
          for (size_t j = 0; j < 6; ++j) {
            const float c2p = terms.layers[static_cast<size_t>(layer - 1)].c2p_HLL[(head * 6 + i) * 6 + j];
            EXPECT_NEAR(scores_R[static_cast<size_t>(index_LL[i * 6 + j])], c2p, 1e-5);
            sums_LL[i * 6 + j] += c2p;
          }
        }
      }
      const std::vector<float> means_R = position_scores(model, checkpoint, encoding, 3, {Kind::kKeys, layer});
      for (size_t j = 0; j < 6; ++j)
        EXPECT_NEAR(means_R[static_cast<size_t>(index_LL[3 * 6 + j])], sums_LL[3 * 6 + j] / 2, 1e-5);
    }
  }
}

TEST_F(PositionVectors, CosinesAreThoseOfEachPair) {
  const VectorRows vectors{3, 2, {3, 4, -4, 3, 0, 0}};
  const std::vector<float> expected{1, 0, 0, 0, 1, 0, 0, 0, 0};
  const std::vector<float> got = cosines(vectors);
  ASSERT_EQ(got.size(), expected.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-6) << i;
  EXPECT_NEAR(cosines({2, 2, {1, 0, -2, -2}})[1], -std::sqrt(0.5), 1e-6);
}

TEST_F(PositionVectors, RefuseWhatTheModelDoesNotHave) {
  ModelConfig config = test::tiny_config();
  const Checkpoint checkpoint = write(config);
  EXPECT_ERROR(position_vectors(checkpoint, config, {Kind::kKeys, 3}), kInput, "layer: expected 1..2, got 3");
  EXPECT_ERROR(position_vectors(checkpoint, config, {Kind::kKeys, 1, 2}), kInput, "head: expected 0..1, got 2");
  config.position_buckets = 4;
  EXPECT_ERROR(position_vectors(checkpoint, config, {Kind::kRaw}), kTensors,
               "encoder.rel_embeddings.weight: expected shape [8, 16], got [16, 16]");
  config.has_p2c = false;
  EXPECT_ERROR(position_vectors(checkpoint, config, {Kind::kQueries}), kInput, "expected a model with p2c");
  config.relative_attention = false;
  EXPECT_ERROR(position_vectors(checkpoint, config, {Kind::kRaw}), kInput, "no relative table");
  const Model model = Model::load(checkpoint, test::tiny_config(), {.threads = 1});
  EXPECT_ERROR(position_scores(model, checkpoint, encoding_of({1, 2}), 2, {}), kInput, "token: expected one below 2");
}

TEST(RelativeIndex, IsTheRowOfQueryLessKey) {
  ModelConfig config;
  config.relative_attention = true;
  config.max_relative_positions = 3;
  EXPECT_EQ(relative_index(config, 3), (std::vector<int32_t>{3, 2, 1, 4, 3, 2, 5, 4, 3}));
  config.max_relative_positions = 7;
  const std::vector<int32_t> rows = relative_index(config, 7);  // 7 .. 1 in the first row, 13 .. 7 in the last
  EXPECT_EQ(rows.front(), 7);
  EXPECT_EQ(rows[6], 1);
  EXPECT_EQ(rows[42], 13);
  EXPECT_EQ(rows.back(), 7);
  EXPECT_ERROR(relative_index(config, 2049), kInput, "expected 1..2048");
  EXPECT_ERROR(relative_index(config, 0), kInput, "expected 1..");
}

}  // namespace
}  // namespace deberta::position_vectors_test
