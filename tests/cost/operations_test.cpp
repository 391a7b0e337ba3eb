// Counts by part against loops over pairs and against the equations; figures of the published base model.
#include "cost/operations.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

#include "kernels/rel_lut.h"

namespace deberta::operations_test {
namespace {

ModelConfig base() {
  ModelConfig config;
  config.vocab_size = 128100;
  config.relative_attention = config.has_c2p = config.has_p2c = true;
  config.position_buckets = 256;
  config.max_relative_positions = 512;
  config.position_biased_input = false;
  return config;
}

ModelConfig small() {
  ModelConfig config = base();
  config.num_hidden_layers = 3;
  config.hidden_size = config.embedding_size = 8;
  config.intermediate_size = 20;
  config.vocab_size = 50;
  config.position_buckets = 4;
  config.max_relative_positions = 16;
  return config;
}

// Pairs of one layer for the queries of one sequence, counted one by one: of queries and keys, and of each relative
// term those of a query (c2p) or a key (p2c) with a row.
double attention_by_pairs(const ModelConfig& config, int64_t length, int64_t queries) {
  RelLutParams params;
  params.position_buckets = config.position_buckets;
  params.max_relative_positions = config.max_relative_positions;
  params.max_length = length;
  const RelLut lut(params);
  std::set<std::pair<int64_t, int64_t>> of_queries, of_keys;
  for (int64_t i = 0; i < queries; ++i) {
    for (int64_t j = 0; j < length; ++j) {
      of_queries.emplace(i, lut.row(i - j));
      of_keys.emplace(j, lut.row(i - j));
    }
  }
  double terms = 0;
  if (config.relative_attention && config.has_c2p) terms += static_cast<double>(of_queries.size());
  if (config.relative_attention && config.has_p2c) terms += static_cast<double>(of_keys.size());
  return static_cast<double>(config.hidden_size) * (4.0 * static_cast<double>(queries * length) + 2 * terms);
}

TEST(Operations, AttentionIsThatOfPairsCountedOneByOne) {
  for (const int64_t buckets : {-1, 4, 32}) {
    for (const bool has_p2c : {false, true}) {
      ModelConfig config = small();
      config.position_buckets = buckets;
      config.has_p2c = has_p2c;
      for (const int32_t length : {1, 2, 3, 17, 40, 130}) {
        const std::vector<int32_t> lengths{length, 5};
        const auto of = [&](LastRows last) {
          return forward_operations(config, {.lengths = lengths, .last = last}).attention;
        };
        const double every = attention_by_pairs(config, length, length) + attention_by_pairs(config, 5, 5);
        EXPECT_EQ(of(LastRows::kEvery), 3 * every) << buckets << " " << length;
        const double first = attention_by_pairs(config, length, 1) + attention_by_pairs(config, 5, 1);
        EXPECT_EQ(of(LastRows::kFirstOfEach), 2 * every + first) << buckets << " " << length;
      }
    }
  }
}

TEST(Operations, ProductsAreThoseOfTheLayers) {
  const ModelConfig config = small();
  const std::vector<int32_t> lengths{5, 7};
  const Operations every = forward_operations(config, {.lengths = lengths});
  EXPECT_EQ(every.query, 3 * 12 * 2 * 64);
  EXPECT_EQ(every.key_value, 2 * every.query);
  EXPECT_EQ(every.attention_output, every.query);
  EXPECT_EQ(every.up, 3 * 12 * 2 * 160);
  EXPECT_EQ(every.down, every.up);
  EXPECT_EQ(every.embedding + every.convolution + every.head, 0);
  EXPECT_EQ(every.all(), every.layers() + every.attention);
  const Operations first = forward_operations(config, {.lengths = lengths, .last = LastRows::kFirstOfEach});
  EXPECT_EQ(first.query, (2 * 12 + 2) * 2 * 64);
  EXPECT_EQ(first.key_value, every.key_value);
  EXPECT_EQ(first.up, (2 * 12 + 2) * 2 * 160);
}

TEST(Operations, TheMaskDecoderRunsTheLastLayerForSomeRowsSeveralTimes) {
  ModelConfig config = small();
  const std::vector<int32_t> lengths{5, 7};
  const PassShape shape{
      .lengths = lengths, .last = LastRows::kSome, .some = 3, .head = Head::kMaskedLm, .predicts_by_decoder = true};
  const Operations every = forward_operations(config, {.lengths = lengths});
  const Operations two = forward_operations(config, shape);
  EXPECT_EQ(two.query, (2 * 12 + 2 * 3) * 2 * 64);
  EXPECT_EQ(two.key_value, every.key_value) << "once, for all passes";
  EXPECT_EQ(two.attention, every.attention / 3 * (2 + 2 * 3 / 12.0));
  EXPECT_EQ(two.head, 3 * 2 * (64 + 8 * 50));
  config.has_own_decoder = true;
  const Operations own = forward_operations(config, shape);
  EXPECT_EQ(own.query, (3 * 12 + 2 * 3) * 2 * 64);
  EXPECT_EQ(own.key_value, (3 + 2) * 12 * 4 * 64);
}

TEST(Operations, OfOtherParts) {
  ModelConfig config = small();
  config.embedding_size = 4;
  config.conv_kernel_size = 3;
  config.conv_groups = 2;
  const std::vector<int32_t> lengths{5, 7};
  const auto with = [&](Head head, double some = 0) {
    return forward_operations(config, {.lengths = lengths,
                                       .last = some > 0 ? LastRows::kSome : LastRows::kEvery,
                                       .some = some,
                                       .head = head,
                                       .labels = 3});
  };
  EXPECT_EQ(with(Head::kNone).embedding, 12 * 2 * 8 * 4);
  EXPECT_EQ(with(Head::kNone).convolution, 12 * 2 * 8 * 4 * 3);
  EXPECT_EQ(with(Head::kSequence).head, 2 * 2 * (64 + 3 * 8));
  EXPECT_EQ(with(Head::kToken).head, 12 * 2 * 3 * 8);
  EXPECT_EQ(with(Head::kTokenOriginal).head, 12 * 2 * (64 + 3 * 8));
  EXPECT_EQ(with(Head::kSpan, 2).head, 2 * 2 * 2 * 8);
  EXPECT_EQ(with(Head::kMaskedLm, 2).head, 2 * 2 * 4 * (8 + 50));
  EXPECT_EQ(with(Head::kReplacedToken).head, 12 * 2 * (64 + 8));
}

TEST(Operations, AHeadOfSequencesReadsTheFirstTokensUnlessItPools) {
  ModelConfig config = small();
  EXPECT_EQ(last_rows_of(config, Head::kSequence), LastRows::kFirstOfEach);
  EXPECT_EQ(last_rows_of(config, Head::kToken), LastRows::kEvery);
  config.classifier_pooling = ClassifierPooling::kMean;
  EXPECT_EQ(last_rows_of(config, Head::kSequence), LastRows::kEvery);
}

TEST(Operations, TablesAreProjectedForTheRowsThatAreReached) {
  ModelConfig config = small();
  EXPECT_EQ(table_operations(config, 512), 3 * 2 * 2 * 8 * 64);
  EXPECT_EQ(table_elements(config), 3u * 2 * 8 * 8);
  config.has_p2c = false;
  EXPECT_EQ(table_operations(config, 512), 3 * 2 * 8 * 64);
  config.relative_attention = false;
  EXPECT_EQ(table_operations(config, 512), 0);
  EXPECT_LT(table_operations(base(), 16), table_operations(base(), 512));
}

TEST(Operations, OfThePublishedBaseModel) {
  const ModelConfig config = base();
  EXPECT_EQ(layer_weights(config), 12.0 * 12 * 768 * 768);
  const auto giga = [&](int32_t length) { return forward_operations(config, {.lengths = {&length, 1}}).all() / 1e9; };
  EXPECT_NEAR(giga(32), 5.511, 0.001);
  EXPECT_NEAR(giga(128), 22.951, 0.001);
}

TEST(Operations, AttentionIsAsMuchAsTheProductsAtTheEvenLength) {
  ModelConfig config = base();
  EXPECT_EQ(even_length(config), 768 + 3072 / 2);
  config.position_buckets = -1;
  config.max_relative_positions = 4096;  // each distance has a row
  const int32_t length = 2304;
  const Operations pass = forward_operations(config, {.lengths = {&length, 1}});
  EXPECT_EQ(pass.attention, pass.layers());
  config.relative_attention = false;
  EXPECT_EQ(even_length(config), 2 * 768 + 3072);
}

}  // namespace
}  // namespace deberta::operations_test
