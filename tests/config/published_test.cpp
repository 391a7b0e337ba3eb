// Every published configuration parses, with the values that the published models have.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/json.h"
#include "config/model_config.h"
#include "support/paths.h"

namespace deberta::published_test {
namespace {

using test::shared;

std::vector<std::string> json_files(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".json") paths.push_back(entry.path().string());
  }
  return paths;
}

struct Expected {
  Layout layout;
  int64_t layers, width, heads, inner, vocabulary, buckets, conv;
  bool is_shared, has_rel_norm;
};

void expect_values(const ModelConfig& c, const Expected& e) {
  EXPECT_EQ(c.layout, e.layout);
  EXPECT_EQ(c.num_hidden_layers, e.layers);
  EXPECT_EQ(c.hidden_size, e.width);
  EXPECT_EQ(c.num_attention_heads, e.heads);
  EXPECT_EQ(c.attention_head_size, 64);
  EXPECT_EQ(c.intermediate_size, e.inner);
  EXPECT_EQ(c.vocab_size, e.vocabulary);
  EXPECT_EQ(c.position_buckets, e.buckets);
  EXPECT_EQ(c.conv_kernel_size, e.conv);
  EXPECT_EQ(c.share_att_key, e.is_shared);
  EXPECT_EQ(c.has_rel_layer_norm, e.has_rel_norm);
  EXPECT_EQ(c.max_relative_positions, 512);
  EXPECT_EQ(c.span(), e.buckets > 0 ? 256 : 512);
  EXPECT_EQ(c.layer_norm_eps, 1e-7);
  EXPECT_EQ(c.embedding_size, e.width);
  EXPECT_EQ(c.pooler_hidden_size, e.width);
  EXPECT_EQ(c.pooler_hidden_act, Activation::kGelu);
  EXPECT_EQ(c.hidden_act, Activation::kGelu);
  EXPECT_EQ(c.conv_act, e.conv > 0 ? Activation::kGelu : Activation::kTanh);
  EXPECT_EQ(c.cls_dropout, 0.1);
}

TEST(PublishedConfigs, HaveThePublishedValues) {
  const std::map<std::string, Expected> table = {
      {"microsoft_deberta-base", {Layout::kV1, 12, 768, 12, 3072, 50265, -1, 0, false, false}},
      {"microsoft_deberta-large", {Layout::kV1, 24, 1024, 16, 4096, 50265, -1, 0, false, false}},
      {"microsoft_deberta-v2-xlarge-mnli", {Layout::kV2, 24, 1536, 24, 6144, 128100, 256, 3, true, true}},
      {"microsoft_deberta-v2-xxlarge", {Layout::kV2, 48, 1536, 24, 6144, 128100, 256, 3, true, true}},
      {"microsoft_deberta-v3-large", {Layout::kV2, 24, 1024, 16, 4096, 128100, 256, 0, true, true}},
      {"microsoft_deberta-v3-large.generator_config", {Layout::kV2, 12, 1024, 16, 4096, 128100, 256, 0, true, true}},
      {"IDEA-CCNL_Erlangshen-DeBERTa-v2-710M-Chinese", {Layout::kV2, 24, 1536, 24, 6144, 12800, 256, 3, true, true}},
      {"Xenova_nli-deberta-v3-xsmall", {Layout::kV2, 12, 384, 6, 1536, 128100, 256, 0, true, true}},
      {"ku-nlp_deberta-v2-large-japanese", {Layout::kV2, 24, 1024, 16, 4096, 32000, 256, 3, true, true}},
      {"ku-nlp_deberta-v2-large-japanese-char-wwm", {Layout::kV2, 24, 1024, 16, 4096, 22012, 256, 3, true, true}},
      {"official_bert_base", {Layout::kV2, 12, 768, 12, 3072, 128100, 256, 0, true, true}},
      {"official_deberta_base", {Layout::kV2, 12, 768, 12, 3072, 128100, 256, 0, true, true}},
      {"official_deberta_xlarge", {Layout::kV2, 24, 1536, 24, 6144, 128100, 256, 3, true, true}},
      {"official_deberta_xxlarge", {Layout::kV2, 48, 1536, 24, 6144, 128100, 256, 3, true, true}},
      {"official_rtd_xsmall", {Layout::kV2, 12, 384, 6, 1536, 128100, 256, 0, true, true}},
      {"official_rtd_small", {Layout::kV2, 6, 768, 12, 3072, 128100, 256, 0, true, true}},
      {"official_rtd_base", {Layout::kV2, 12, 768, 12, 3072, 128100, 256, 0, true, true}},
      {"official_rtd_large", {Layout::kV2, 24, 1024, 16, 4096, 128100, 256, 0, true, true}},
  };
  if (shared("reference/configs").empty()) GTEST_SKIP() << "needs the shared folder";
  for (const std::string& path : json_files(shared("reference/configs"))) {
    const std::string name = std::filesystem::path(path).stem().string();
    if (name.ends_with(".tokenizer_config")) continue;
    SCOPED_TRACE(name);
    ASSERT_TRUE(table.contains(name));
    const ModelConfig config = load_model_config(path);
    expect_values(config, table.at(name));
    const bool is_bert = name == "official_bert_base";
    EXPECT_EQ(config.relative_attention, !is_bert);
    EXPECT_EQ(config.position_biased_input, is_bert);
    EXPECT_EQ(config.attention_terms(), is_bert ? 1 : 3);
  }
}

TEST(PublishedConfigs, GeneratorOfATrainingConfigurationParsesByItself) {
  const std::string path = shared("reference/configs/official_rtd_large.json");
  if (path.empty()) GTEST_SKIP() << "needs the shared folder";
  const Json document = load_json(path);
  const Json* generator = document.find("generator");
  ASSERT_NE(generator, nullptr);
  EXPECT_EQ(parse_model_config(*generator, path + ": generator").num_hidden_layers, 12);
  EXPECT_EQ(parse_model_config(document, path).num_hidden_layers, 24);
}

TEST(PublishedConfigs, NanoModelsHaveTheirLabels) {
  const std::string folder = shared("reference/models");
  if (folder.empty()) GTEST_SKIP() << "needs the shared folder";
  const std::map<std::string, std::vector<std::string>> labels = {
      {"nano-conll", {"O", "B-LOC", "B-MISC", "B-ORG", "B-PER", "I-LOC", "I-MISC", "I-ORG", "I-PER"}},
      {"nano-sick", {"contradiction", "neutral", "entailment"}},
      {"nano-sst2", {"negative", "positive"}},
      {"nano-mlm", {}},
      {"nano-emd", {}},
      {"nano-squad", {}},
  };
  for (const auto& [name, expected] : labels) {
    const ModelConfig config = load_model_config(folder + "/" + name + "/config.json");
    EXPECT_EQ(config.labels, expected) << name;
    EXPECT_EQ(config.vocab_size, 8256);
    EXPECT_EQ(config.architectures.size(), 1u);
    EXPECT_EQ(config.raw, load_json(folder + "/" + name + "/config.json").dump());
  }
}

TEST(PublishedConfigs, ConfigurationsOfTheOriginalCodesCasesParse) {
  if (shared("reference/original-goldens").empty()) GTEST_SKIP() << "needs the shared folder";
  size_t parsed = 0;
  for (const std::string& path : json_files(shared("reference/original-goldens"))) {
    const Json document = load_json(path, {.max_bytes = size_t{1} << 26});
    const Json* config = document.find("config");
    if (config == nullptr || (config->find("vocab_size") == nullptr && config->find("generator") == nullptr)) continue;
    SCOPED_TRACE(path);
    const ModelConfig c = parse_model_config(*config, path);
    ++parsed;
    EXPECT_EQ(c.vocab_size, 100);
    const Json* layers = config->find("num_hidden_layers");
    if (layers != nullptr) {
      EXPECT_EQ(c.num_hidden_layers, layers->as_integer());
    }
    const bool has_no_pooling = config->find("pooling") == nullptr;
    if (has_no_pooling && layers != nullptr) {
      EXPECT_EQ(c.pooler_hidden_act, c.hidden_act);
    }
    if (config->find("pos_att_type") == nullptr && layers != nullptr) {
      EXPECT_EQ(c.attention_terms(), 2);
    }
  }
  EXPECT_GE(parsed, 60u);
}

}  // namespace
}  // namespace deberta::published_test
