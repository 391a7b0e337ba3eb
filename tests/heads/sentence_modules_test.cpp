// Folders of sentence-transformers: what their modules make of the vectors of the tokens.
#include "heads/sentence_modules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "deberta/pipeline.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tiny_model.h"

namespace deberta {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTransformer =
    R"({"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"})";
constexpr const char* kText = "some text of a few words";

class SentenceModulesTest : public testing::Test {
 protected:
  SentenceModulesTest() {
    ModelConfig config = test::tiny_config();
    config.vocab_size = 1100;
    test::write_tiny_model(folder_.path(), config);
    fs::copy_file(test::fixture("tokenizer/bytes.model"), folder_.path("spm.model"));
  }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories(fs::path(folder_.path(name)).parent_path());
    test::write_text(folder_.path(name), text);
  }
  // Modules after the transformer, by class; their folders are 1_CLASS, 2_CLASS, ...
  void write_modules(const std::vector<std::string>& kinds) {
    std::string text = std::string("[") + kTransformer;
    for (size_t i = 0; i < kinds.size(); ++i) {
      const std::string number = std::to_string(i + 1);
      text += R"(, {"idx": )" + number + R"(, "name": ")" + number + R"(", "path": ")" + number + "_" + kinds[i] +
              R"(", "type": "sentence_transformers.models.)" + kinds[i] + "\"}";
    }
    write("modules.json", text + "]");
  }
  void write_pooling(const std::string& true_keys) {
    write("1_Pooling/config.json",
          R"({"word_embedding_dimension": 16, "pooling_mode_cls_token": false)" + true_keys + "}");
  }
  void write_dense(const std::string& name, int64_t inputs, int64_t outputs, const std::string& activation) {
    write(name + "/config.json", R"({"in_features": )" + std::to_string(inputs) + R"(, "out_features": )" +
                                     std::to_string(outputs) + R"(, "bias": true, "activation_function": ")" +
                                     activation + "\"}");
    weight_.assign(static_cast<size_t>(inputs * outputs), 0);
    for (size_t i = 0; i < weight_.size(); ++i) weight_[i] = 0.01F * static_cast<float>(i % 17) - 0.05F;
    bias_ = {0.5F, -0.25F, 0.125F};
    bias_.resize(static_cast<size_t>(outputs));
    write_safetensors(folder_.path(name + "/model.safetensors"),
                      {{"linear.weight", DType::kF32, {outputs, inputs}, std::as_bytes(std::span(weight_))},
                       {"linear.bias", DType::kF32, {outputs}, std::as_bytes(std::span(bias_))}});
  }

  ModelDirectory open() const { return open_model_directory(folder_.path(), {.threads = 1}); }
  std::vector<float> vector(const EmbeddingOptions& options = {}) const {
    const TextInput input[] = {{kText}};
    const ModelDirectory directory = open();
    const EmbeddingAnswer answer = embed(directory, input, options).at(0);
    if (options.pools) {
      EXPECT_EQ(answer.vectors.size(), embedding_columns(directory, options));
    }
    return answer.vectors;
  }
  std::vector<float> pooled(Pooling pooling) const {
    EmbeddingOptions options;
    options.pooling = pooling;
    return vector(options);
  }
  SentenceModules load() const { return load_sentence_modules(folder_.path(), 16); }

  test::TemporaryFolder folder_;
  std::vector<float> weight_, bias_;
};

TEST_F(SentenceModulesTest, AFolderWithoutModulesTakesTheMeanAndSaysNothing) {
  EXPECT_TRUE(open().sentence.poolings.empty());
  EXPECT_EQ(vector(), pooled(Pooling::kMean));
}

TEST_F(SentenceModulesTest, ThePoolingIsThatOfTheModel) {
  write_modules({"Pooling"});
  write_pooling(R"(, "pooling_mode_max_tokens": true)");
  EXPECT_EQ(vector(), pooled(Pooling::kMax));
  write("1_Pooling/config.json", R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false})");
  EXPECT_EQ(vector(), pooled(Pooling::kCls));
  write("1_Pooling/config.json", R"({"pooling_mode": "mean"})");
  EXPECT_EQ(vector(), pooled(Pooling::kMean));
  EXPECT_NE(pooled(Pooling::kMean), pooled(Pooling::kMax));
  EmbeddingOptions tokens;
  tokens.pools = false;
  EXPECT_GT(vector(tokens).size(), 16u);
}

TEST_F(SentenceModulesTest, SeveralPoolingsAreJoinedInTheOrderOfTheLibrary) {
  write_modules({"Pooling"});
  write("1_Pooling/config.json", R"({"word_embedding_dimension": 16, "pooling_mode_cls_token": true,
         "pooling_mode_mean_tokens": true, "pooling_mode_max_tokens": true, "pooling_mode_mean_sqrt_len_tokens": true})");
  std::vector<float> expected;
  for (const Pooling pooling : {Pooling::kCls, Pooling::kMax, Pooling::kMean, Pooling::kMeanSqrt}) {
    const std::vector<float> part = pooled(pooling);
    expected.insert(expected.end(), part.begin(), part.end());
  }
  EXPECT_EQ(vector(), expected);
}

TEST_F(SentenceModulesTest, DenseAndNormalizeFollowInTheirOrder) {
  write_modules({"Pooling", "Dense", "Normalize"});
  write_pooling(R"(, "pooling_mode_mean_tokens": true)");
  write_dense("2_Dense", 16, 3, "torch.nn.modules.activation.Tanh");
  const std::vector<float> mean = pooled(Pooling::kMean);
  std::vector<double> expected(3);
  double squares = 0;
  for (size_t o = 0; o < 3; ++o) {
    double sum = bias_[o];
    for (size_t i = 0; i < 16; ++i) sum += double{weight_[o * 16 + i]} * mean[i];
    expected[o] = std::tanh(sum);
    squares += expected[o] * expected[o];
  }
  const std::vector<float> got = vector();
  ASSERT_EQ(got.size(), 3u);
  for (size_t o = 0; o < 3; ++o) EXPECT_NEAR(got[o], expected[o] / std::sqrt(squares), 1e-6);
}

TEST_F(SentenceModulesTest, APoolingThatIsAskedForTakesThePlaceOfAllModules) {
  write_modules({"Pooling", "Normalize"});
  const std::vector<float> plain = pooled(Pooling::kMean);
  write_pooling(R"(, "pooling_mode_mean_tokens": true)");
  EXPECT_EQ(pooled(Pooling::kMean), plain);
  EXPECT_NE(vector(), plain);
  EmbeddingOptions options;
  options.pooling = Pooling::kMean;
  options.normalizes = true;
  EXPECT_EQ(vector(options), vector());
}

TEST_F(SentenceModulesTest, TheTransformerMayBeInAFolderOfItsOwn) {
  const std::vector<float> expected = pooled(Pooling::kCls);
  for (const char* name : {"config.json", "model.safetensors", "spm.model"}) {
    fs::create_directories(folder_.path("0_Transformer"));
    fs::rename(folder_.path(name), folder_.path("0_Transformer/") + name);
  }
  write("modules.json", R"([{"path": "0_Transformer", "type": "sentence_transformers.models.Transformer"},
                            {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
  write("1_Pooling/config.json", R"({"pooling_mode_cls_token": true})");
  EXPECT_EQ(transformer_folder(folder_.path()), folder_.path("0_Transformer"));
  EXPECT_EQ(vector(), expected);
}

TEST_F(SentenceModulesTest, LengthAndLowerCaseAreRead) {
  const std::vector<float> lower = pooled(Pooling::kMean);
  EXPECT_EQ(load().max_tokens, 0u);
  write("sentence_bert_config.json", R"({"max_seq_length": 128, "do_lower_case": false})");
  EXPECT_EQ(load().max_tokens, 128u);
  const TextInput upper[] = {{"Some TEXT of a few words"}};
  EXPECT_NE(embed(open(), upper).at(0).vectors, lower);
  write("sentence_bert_config.json", R"({"max_seq_length": null, "do_lower_case": true})");
  EXPECT_EQ(load().max_tokens, 0u);
  EXPECT_EQ(embed(open(), upper).at(0).vectors, lower);
}

TEST_F(SentenceModulesTest, WhatIsNotComputedIsRefusedByEmbedAloneWithTheReason) {
  write_modules({"Pooling"});
  for (const char* key : {"pooling_mode_weightedmean_tokens", "pooling_mode_lasttoken"}) {
    write_pooling(std::string(", \"") + key + "\": true");
    EXPECT_ERROR(vector(), kUnsupported, key);
    EXPECT_NO_THROW(pooled(Pooling::kMean));
  }
  write_modules({"LSTM"});
  EXPECT_ERROR(vector(), kUnsupported, "module LSTM: expected Transformer, Pooling, Dense or Normalize");
  write_modules({"Normalize"});
  EXPECT_ERROR(vector(), kUnsupported, "module Normalize before any Pooling");
  write_modules({"Pooling", "Dense"});
  write_pooling(R"(, "pooling_mode_mean_tokens": true)");
  write_dense("2_Dense", 16, 3, "my.module.Tanh");
  EXPECT_ERROR(vector(), kUnsupported, "activation_function my.module.Tanh is not computed here");
}

TEST_F(SentenceModulesTest, WrongFilesAreErrorsOfTheirOwn) {
  write_modules({"Pooling"});
  EXPECT_ERROR(load(), kFileNotFound, "1_Pooling/config.json");
  EXPECT_ERROR(vector(), kUnsupported, "1_Pooling/config.json");
  EXPECT_NO_THROW(pooled(Pooling::kMean));
  write_pooling("");
  EXPECT_ERROR(load(), kConfig, "pooling_mode: expected a pooling that is known and true, got nothing");
  write("1_Pooling/config.json", R"({"word_embedding_dimension": 768, "pooling_mode_cls_token": true})");
  EXPECT_ERROR(load(), kConfig, "word_embedding_dimension: expected 16, the hidden_size, got 768 (integer)");
  write("1_Pooling/config.json", R"({"pooling_mode_cls_token": 1})");
  EXPECT_ERROR(load(), kConfig, "pooling_mode_cls_token: expected true or false, got 1 (integer)");
  write_pooling(R"(, "pooling_mode_mean_tokens": true)");
  write_modules({"Pooling", "Dense"});
  write_dense("2_Dense", 12, 3, "torch.nn.modules.activation.Tanh");
  EXPECT_ERROR(load(), kConfig, "in_features: expected 16, what the module before gives, got 12 (integer)");
  write_dense("2_Dense", 16, 3, "torch.nn.modules.activation.Tanh");
  write("2_Dense/config.json", R"({"in_features": 16, "out_features": 4})");
  EXPECT_ERROR(load(), kTensors, "tensor linear.weight: expected shape [4, 16], got [3, 16]");
  write("sentence_bert_config.json", R"({"max_seq_length": "512"})");
  write_modules({});
  EXPECT_ERROR(load(), kConfig, "max_seq_length: expected an integer from 3 to 1048576, got \"512\" (string)");
}

TEST_F(SentenceModulesTest, AWrongListOfModulesIsAnErrorOfEveryVerb) {
  write("modules.json", "{}");
  EXPECT_ERROR(open(), kConfig, "document: expected a list of at most 32 modules");
  write("modules.json", R"([{"path": "../elsewhere", "type": "sentence_transformers.models.Transformer"}])");
  EXPECT_ERROR(open(), kConfig, "path: expected a plain folder name, got \"../elsewhere\"");
  write("modules.json", R"([{"path": ""}])");
  EXPECT_ERROR(open(), kConfig, "type: expected the name of a module, got nothing");
}

}  // namespace
}  // namespace deberta
