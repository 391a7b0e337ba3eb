// Nominal operations (cost/operations.h) beside the products that a pass calls, by role.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "cost/operations.h"
#include "engine/engine_case.h"
#include "kernels/profile.h"

namespace deberta::cost_test {
namespace {

using namespace test;

// 2 M N K of every product of a pass, by role.
std::map<ProductRole, double> count_products(const Model& model, const Batch& batch, const ForwardOptions& options) {
  start_profile();
  run(model, batch, options);
  std::map<ProductRole, double> sums;
  for (const ProfileEntry& entry : stop_profile()) {
    if (entry.key.operation != Operation::kGemm) continue;
    sums[entry.key.role] +=
        2 * static_cast<double>(entry.rows) * static_cast<double>(entry.key.outputs * entry.key.depth);
  }
  return sums;
}

struct CostCase {
  std::string name;
  ModelConfig config;
  Head head = Head::kNone;
  std::vector<int32_t> rows = {};  // asked for
  LastRows last = LastRows::kEvery;
  std::vector<int32_t> lengths = {1, 9, 4};
};

std::vector<CostCase> cost_cases() {
  const ModelConfig plain = with_fast_heads();
  ModelConfig convolved = plain, narrow = plain, absolute = plain;
  convolved.conv_kernel_size = 3;
  narrow.embedding_size = 16;
  absolute.relative_attention = false;
  absolute.position_biased_input = true;
  return {
      {"none", plain},
      {"long", plain, Head::kNone, {}, LastRows::kEvery, {2048, 1}},
      {"convolution", convolved},
      {"narrow embeddings", narrow},
      {"no relative terms", absolute},
      {"sequence", plain, Head::kSequence, {}, LastRows::kFirstOfEach},
      {"token", plain, Head::kToken},
      {"token, rows", plain, Head::kToken, {2, 11}, LastRows::kSome},
      {"original token", plain, Head::kTokenOriginal},
      {"span", plain, Head::kSpan},
      {"replaced token", plain, Head::kReplacedToken},
      {"decoder", plain, Head::kMaskedLm},
      {"decoder, rows", plain, Head::kMaskedLm, {0, 3, 12}, LastRows::kSome},
      {"plain language model", absolute, Head::kMaskedLm, {3}, LastRows::kSome},
  };
}

TEST(Cost, IsThatOfTheProductsThatAPassCalls) {
  for (const CostCase& cost_case : cost_cases()) {
    const Model model = load_tiny(cost_case.config, cost_case.head);
    std::vector<std::vector<int32_t>> texts;
    for (const int32_t length : cost_case.lengths) texts.push_back(make_ids(7, static_cast<size_t>(length)));
    ForwardOptions options;
    options.wants_logits = cost_case.head != Head::kNone;
    options.rows = cost_case.rows;
    std::map<ProductRole, double> called = count_products(model, make_batch(texts), options);
    const Operations cost = forward_operations(model.config(), {.lengths = cost_case.lengths,
                                                                .last = cost_case.last,
                                                                .some = static_cast<double>(cost_case.rows.size()),
                                                                .head = cost_case.head,
                                                                .labels = 3,
                                                                .predicts_by_decoder = model.has_mask_decoder()});
    EXPECT_EQ(called[ProductRole::kEmbedding], cost.embedding) << cost_case.name;
    EXPECT_EQ(called[ProductRole::kQuery], cost.query) << cost_case.name;
    EXPECT_EQ(called[ProductRole::kKeyValue], cost.key_value) << cost_case.name;
    EXPECT_EQ(called[ProductRole::kAttentionOutput], cost.attention_output) << cost_case.name;
    EXPECT_EQ(called[ProductRole::kUp], cost.up) << cost_case.name;
    EXPECT_EQ(called[ProductRole::kDown], cost.down) << cost_case.name;
    EXPECT_EQ(called[ProductRole::kConvolution], cost.convolution) << cost_case.name;
    EXPECT_EQ(called[ProductRole::kHead], cost.head) << cost_case.name;
    EXPECT_EQ(called[ProductRole::kUnnamed], 0) << cost_case.name;
  }
}

}  // namespace
}  // namespace deberta::cost_test
