// Parameters by part: those of the published models, and every tensor in exactly one part.
#include "checkpoint/parameter_count.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "checkpoint/tensor_table.h"
#include "config/published_sizes.h"

namespace deberta::parameter_count_test {
namespace {

ModelConfig config_named(std::string_view name) {
  return published_config(*find_published_size(name));
}

ParameterCounts counts_of(const ModelConfig& config) {
  return count_parameters(config, head_of_config(config), 2);
}

TEST(ParameterCount, IsThatOfThePublishedModels) {
  struct Millions {
    const char* name;
    double words, backbone;
  };
  for (const auto& [name, words, backbone] : std::vector<Millions>{{"base", 38.6, 100.0},
                                                                   {"large", 51.5, 353.7},
                                                                   {"xlarge", 51.5, 706.3},
                                                                   {"v2-xlarge", 196.8, 687.8},
                                                                   {"v2-xxlarge", 196.8, 1367.8},
                                                                   {"v3-xsmall", 49.2, 21.5},
                                                                   {"v3-small", 98.4, 42.9},
                                                                   {"v3-base", 98.4, 85.4},
                                                                   {"v3-large", 131.2, 302.8},
                                                                   {"mdeberta-v3-base", 192.8, 85.4}}) {
    const ParameterCounts counts = counts_of(config_named(name));
    EXPECT_NEAR(static_cast<double>(counts.words) / 1e6, words, 0.06) << name;
    EXPECT_NEAR(static_cast<double>(counts.backbone()) / 1e6, backbone, 0.06) << name;
  }
}

TEST(ParameterCount, RelativeTermsCost2NDSquaredAndTheirTableUnlessProjectionsAreShared) {
  const ParameterCounts base = counts_of(config_named("base")), large = counts_of(config_named("large"));
  EXPECT_EQ(base.relative_projections, 2 * 12 * 768 * 768 + 12 * 768);  // of p2c with a bias
  EXPECT_EQ(large.relative_projections, 2 * 24 * 1024 * 1024 + 24 * 1024);
  EXPECT_EQ(base.relative_table, 1024 * 768);
  EXPECT_EQ(large.relative_table, 1024 * 1024);
  const ParameterCounts shared = counts_of(config_named("v3-large"));
  EXPECT_EQ(shared.relative_projections, 0);
  EXPECT_EQ(shared.relative_table, 512 * 1024 + 2 * 1024);
}

TEST(ParameterCount, EveryTensorIsInOnePart) {
  for (const std::string_view name : {"base", "v2-xlarge", "v3-small"}) {
    for (const HeadFacts* head : all_heads()) {
      ModelConfig config = config_named(name);
      config.num_hidden_layers = 3;
      config.type_vocab_size = 2;
      config.extraction = ExtractionConfig{.hidden_size = 64};  // which heads of entities read
      const ParameterCounts counts = count_parameters(config, *head, 5);
      int64_t all = 0;
      for (const TensorSpec& tensor : list_tensors(config, *head, 5)) {
        const bool is_read = tensor.name != "embeddings.position_embeddings.weight" || head->predicts_words();
        int64_t count = is_read ? 1 : 0;
        for (const int64_t size : tensor.shape) count *= size;
        all += count;
      }
      EXPECT_EQ(counts.all(), all) << name << " " << head->name;
      EXPECT_EQ(counts.positions, head->predicts_words() ? 512 * config.hidden_size : 0) << head->name;
      EXPECT_EQ(counts.head > 0, head->has_logits()) << head->name;
      EXPECT_EQ(counts.embeddings, 4 * config.hidden_size) << "the norm and two types";
      EXPECT_EQ(counts.convolution > 0, name == "v2-xlarge");
    }
  }
}

TEST(ParameterCount, WithoutRelativeTermsThereAreNoneOfTheirTensors) {
  ModelConfig config = config_named("v3-base");
  config.relative_attention = false;
  const ParameterCounts counts = counts_of(config);
  EXPECT_EQ(counts.relative_table + counts.relative_projections, 0);
  EXPECT_EQ(counts.layers, counts_of(config_named("v3-base")).layers);
}

TEST(ParameterCount, TheHeadIsThatOfTheConfigurationElseOfMaskedWords) {
  ModelConfig config = config_named("v3-base");
  EXPECT_EQ(head_of_config(config).head, Head::kMaskedLm);
  config.architectures = {"Unknown", "DebertaV2ForSequenceClassification"};
  EXPECT_EQ(head_of_config(config).head, Head::kSequence);
  config.architectures = {};
  EXPECT_EQ(head_of_config(config).head, Head::kMaskedLm);
  config.architectures = {"DebertaV2Model"};
  EXPECT_EQ(head_of_config(config).head, Head::kNone);
}

}  // namespace
}  // namespace deberta::parameter_count_test
