// What the pooler of a sequence head reads, beside plain loops: of ragged packs with holes, with one token, with none.
#include "kernels/pooling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "engine/engine_case.h"
#include "heads/kernel_names.h"

namespace deberta::pooling_test {
namespace {

using namespace test;

constexpr std::array kPoolings = {ClassifierPooling::kFirst, ClassifierPooling::kMean, ClassifierPooling::kMax,
                                  ClassifierPooling::kAttention};

std::vector<size_t> counted_tokens(const Batch& batch, ClassifierPooling pooling, size_t b) {
  std::vector<size_t> tokens;
  for (auto t = static_cast<size_t>(batch.starts[b]); t < static_cast<size_t>(batch.starts[b + 1]); ++t) {
    if (pooling == ClassifierPooling::kFirst || batch.mask_T.empty() || batch.mask_T[t] != 0) tokens.push_back(t);
  }
  return tokens;
}

// The weights of one row's tokens that count, each computed by itself.
std::vector<double> weights_by_hand(ClassifierPooling pooling, const std::vector<size_t>& tokens,
                                    const std::vector<float>& hidden_TD, const std::vector<float>& query_D) {
  std::vector<double> weights(tokens.size(), 1 / static_cast<double>(tokens.size()));
  if (pooling == ClassifierPooling::kFirst) {
    std::fill(weights.begin() + 1, weights.end(), 0.0);
    weights[0] = 1;
  }
  if (pooling != ClassifierPooling::kAttention) return weights;
  for (size_t i = 0; i < tokens.size(); ++i) {
    double score = 0;
    for (size_t d = 0; d < query_D.size(); ++d)
      score += double{hidden_TD[tokens[i] * query_D.size() + d]} * double{query_D[d]};
    weights[i] = std::exp(score);
  }
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= total;
  return weights;
}

std::vector<double> pool_by_hand(ClassifierPooling pooling, const Batch& batch, const std::vector<float>& hidden_TD,
                                 const std::vector<float>& query_D) {
  const size_t columns = query_D.size();
  std::vector<double> pooled;
  for (size_t b = 0; b < batch.sequences(); ++b) {
    const std::vector<size_t> tokens = counted_tokens(batch, pooling, b);
    const std::vector<double> weights =
        tokens.empty() ? std::vector<double>() : weights_by_hand(pooling, tokens, hidden_TD, query_D);
    for (size_t d = 0; d < columns; ++d) {
      double sum = 0, largest = tokens.empty() ? 0 : -std::numeric_limits<double>::infinity();
      for (size_t i = 0; i < tokens.size(); ++i) {
        sum += weights[i] * double{hidden_TD[tokens[i] * columns + d]};
        largest = std::max(largest, double{hidden_TD[tokens[i] * columns + d]});
      }
      pooled.push_back(pooling == ClassifierPooling::kMax ? largest : sum);
    }
  }
  return pooled;
}

Batch ragged_batch() {
  Batch batch = make_batch({make_ids(1, 6), {}, make_ids(2, 70), make_ids(3, 1), make_ids(4, 2), make_ids(5, 3)});
  batch.mask_T.assign(82, 1);
  batch.mask_T[0] = batch.mask_T[4] = batch.mask_T[70] = batch.mask_T[78] = 0;  // the first token among them
  batch.mask_T[79] = batch.mask_T[80] = batch.mask_T[81] = 0;                   // all tokens of the last sequence
  return batch;
}

// A model whose pooler passes on what it reads.
ModelConfig transparent_config(ClassifierPooling pooling) {
  ModelConfig config = with_fast_heads();
  config.classifier_pooling = pooling;
  config.pooler_hidden_act = Activation::kLinear;
  return config;
}
Model load_transparent(const ModelConfig& config, const ModelOptions& options, std::vector<float>& query_D) {
  query_D.assign(static_cast<size_t>(config.hidden_size), 0.0f);
  return load_changed(config, Head::kSequence, options, [&](const std::string& name, std::vector<float>& values) {
    if (name == "pooler.attention.weight") query_D = values;
    if (name == "pooler.dense.bias") std::ranges::fill(values, 0.0f);
    if (name != "pooler.dense.weight") return;
    std::ranges::fill(values, 0.0f);
    for (size_t d = 0; d < query_D.size(); ++d) values[d * query_D.size() + d] = 1;
  });
}

TEST(Pooling, OfTheModelIsThatOfPlainLoops) {
  const Batch batch = ragged_batch();
  for (const ClassifierPooling pooling : kPoolings) {
    for (const Precision precision : {Precision::kFp32, Precision::kBf16, Precision::kInt8}) {
      std::vector<float> query_D;
      const Model model = load_transparent(
          transparent_config(pooling), {.precision = precision, .allows_uncalibrated = true, .threads = 1}, query_D);
      const std::vector<double> expected = pool_by_hand(pooling, batch, last_hidden(model, batch), query_D);
      const std::vector<float> got = run(model, batch).pooled_BD;
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i)
        ASSERT_NEAR(got[i], expected[i], 1e-6)
            << to_string(pooling) << ", " << to_string(precision) << ", element " << i;
    }
  }
}

// The whole pass, any number of threads, and each sequence alone give the same bits.
TEST(Pooling, DependsOnItsOwnSequenceAlone) {
  const Batch batch = ragged_batch();
  for (const ClassifierPooling pooling : kPoolings) {
    ModelConfig config = with_fast_heads();
    config.classifier_pooling = pooling;
    const Model model = load_tiny(config, Head::kSequence);
    const std::vector<float> logits = run(model, batch).logits;
    EXPECT_EQ(run(load_tiny(config, Head::kSequence, {.threads = 3}), batch).logits, logits) << to_string(pooling);
    ForwardOptions whole;
    whole.layers = {2};
    EXPECT_EQ(run(model, batch, whole).logits, logits) << to_string(pooling);
    for (size_t b = 0; b < batch.sequences(); ++b) {
      Batch alone;
      const auto begin = batch.starts[b], end = batch.starts[b + 1];
      alone.ids_T.assign(batch.ids_T.begin() + begin, batch.ids_T.begin() + end);
      alone.mask_T.assign(batch.mask_T.begin() + begin, batch.mask_T.begin() + end);
      alone.starts = {0, end - begin};
      EXPECT_EQ(run(model, alone).logits, slice(logits, 3 * b, 3 * b + 3)) << to_string(pooling) << ", sequence " << b;
    }
  }
}

TEST(Pooling, WithoutTokensThatCountGivesZeros) {
  const Batch batch = ragged_batch();
  for (const ClassifierPooling pooling : kPoolings) {
    ModelConfig config = with_fast_heads();
    config.classifier_pooling = pooling;
    const std::vector<float> logits = run(load_tiny(config, Head::kSequence), batch).logits;
    const auto are_zero = [&](size_t b) {
      return std::ranges::all_of(slice(logits, 3 * b, 3 * b + 3), [](float x) { return x == 0; });
    };
    EXPECT_TRUE(are_zero(1)) << to_string(pooling) << ", no token";
    EXPECT_EQ(are_zero(5), pooling != ClassifierPooling::kFirst) << to_string(pooling) << ", all masked";
    EXPECT_FALSE(are_zero(3)) << to_string(pooling) << ", one token";
  }
}

TEST(Pooling, ScoresOfAnySizeHaveASoftmax) {
  const std::vector<float> hidden_TD = {1000, 0, 0, 1, -1000, 2}, query_D = {3, 0};
  const std::vector<int32_t> starts = {0, 3};
  std::vector<float> pooled_D(2);
  std::vector<double> weights_T(3);
  pool_rows({},
            {.pooling = RowPooling::kAttention,
             .hidden_TD = hidden_TD.data(),
             .columns = 2,
             .starts = starts,
             .query_D = query_D.data()},
            {.pooled_BD = pooled_D.data(), .weights_T = weights_T.data()}, serial());
  EXPECT_EQ(pooled_D, (std::vector<float>{1000, 0}));
}

// What looks for it finds it.
TEST(Pooling, KeepsANaN) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> hidden_TD = {1, kNaN, kNaN, 2, 3, 4}, query_D = {1, 1};
  const std::vector<int32_t> starts = {0, 3};
  for (const ClassifierPooling pooling :
       {ClassifierPooling::kMean, ClassifierPooling::kMax, ClassifierPooling::kAttention}) {
    std::vector<float> pooled_D(2);
    std::vector<double> weights_T(3);
    pool_rows({},
              {.pooling = to_kernel(pooling),
               .hidden_TD = hidden_TD.data(),
               .columns = 2,
               .starts = starts,
               .query_D = query_D.data()},
              {.pooled_BD = pooled_D.data(), .weights_T = weights_T.data()}, serial());
    EXPECT_TRUE(std::isnan(pooled_D[0]) && std::isnan(pooled_D[1])) << to_string(pooling);
  }
}

}  // namespace
}  // namespace deberta::pooling_test
