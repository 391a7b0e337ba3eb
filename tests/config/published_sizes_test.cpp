// The table of published sizes: what its configurations say, and that published files say the same.
#include "config/published_sizes.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "config/model_config.h"
#include "support/paths.h"

namespace deberta::published_sizes_test {
namespace {

ModelConfig config_named(std::string_view name) {
  return published_config(*find_published_size(name));
}

TEST(PublishedSizes, EachIsAConfigurationOfItsVersion) {
  EXPECT_EQ(published_sizes().size(), 10u);
  for (const PublishedSize& size : published_sizes()) {
    SCOPED_TRACE(std::string(size.name));
    const ModelConfig config = config_named(size.name);
    EXPECT_EQ(config.num_hidden_layers, size.layers);
    EXPECT_EQ(config.hidden_size, size.hidden);
    EXPECT_EQ(config.attention_head_size, 64);
    EXPECT_EQ(config.intermediate_size, 4 * size.hidden);
    EXPECT_TRUE(config.relative_attention && config.has_c2p && config.has_p2c);
    EXPECT_TRUE(config.has_mask_decoder());
    const bool is_first = size.version == ModelVersion::kV1;
    EXPECT_EQ(config.layout, is_first ? Layout::kV1 : Layout::kV2);
    EXPECT_EQ(2 * config.span(), is_first ? 1024 : 512);
    EXPECT_EQ(config.share_att_key, !is_first);
    EXPECT_EQ(config.has_rel_layer_norm, !is_first);
    EXPECT_EQ(config.conv_kernel_size, size.version == ModelVersion::kV2 ? 3 : 0);
  }
}

TEST(PublishedSizes, AreFoundByNameAndThoseOfVersion1AlsoWithIt) {
  EXPECT_EQ(find_published_size("v1-large"), find_published_size("large"));
  EXPECT_EQ(find_published_size("v3-large")->words, 128100);
  EXPECT_EQ(find_published_size("v1-v3-large"), nullptr);
  EXPECT_EQ(find_published_size("v3-huge"), nullptr);
  EXPECT_EQ(find_published_size(""), nullptr);
  EXPECT_EQ(list_published_sizes(),
            "base, large, xlarge, v2-xlarge, v2-xxlarge, v3-xsmall, v3-small, v3-base, v3-large, mdeberta-v3-base");
}

TEST(PublishedSizes, PublishedFilesSayTheSame) {
  const std::map<std::string, std::string> files = {{"microsoft_deberta-base", "base"},
                                                    {"microsoft_deberta-large", "large"},
                                                    {"microsoft_deberta-v2-xlarge-mnli", "v2-xlarge"},
                                                    {"microsoft_deberta-v2-xxlarge", "v2-xxlarge"},
                                                    {"official_rtd_xsmall", "v3-xsmall"},
                                                    {"official_rtd_small", "v3-small"},
                                                    {"official_rtd_base", "v3-base"},
                                                    {"microsoft_deberta-v3-large", "v3-large"}};
  const std::string folder = test::shared("reference/configs");
  if (folder.empty()) GTEST_SKIP() << "needs the shared folder";
  for (const auto& [file, name] : files) {
    SCOPED_TRACE(file);
    const ModelConfig published = load_model_config(folder + "/" + file + ".json"), ours = config_named(name);
    EXPECT_EQ(ours.layout, published.layout);
    EXPECT_EQ(ours.num_hidden_layers, published.num_hidden_layers);
    EXPECT_EQ(ours.hidden_size, published.hidden_size);
    EXPECT_EQ(ours.num_attention_heads, published.num_attention_heads);
    EXPECT_EQ(ours.intermediate_size, published.intermediate_size);
    EXPECT_EQ(ours.vocab_size, published.vocab_size);
    EXPECT_EQ(ours.position_buckets, published.position_buckets);
    EXPECT_EQ(ours.share_att_key, published.share_att_key);
    EXPECT_EQ(ours.has_rel_layer_norm, published.has_rel_layer_norm);
    EXPECT_EQ(ours.conv_kernel_size, published.conv_kernel_size);
    EXPECT_EQ(ours.conv_act, published.conv_act);
    EXPECT_EQ(ours.position_biased_input, published.position_biased_input);
    EXPECT_EQ(ours.max_position_embeddings, published.max_position_embeddings);
  }
}

}  // namespace
}  // namespace deberta::published_sizes_test
