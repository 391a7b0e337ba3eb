// Folders of sentence-transformers: what their modules make of the token vectors.
#include "pipeline/sentence_modules.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/json.h"
#include "deberta/pipeline.h"
#include "hub/module_list.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tiny_model.h"
#include "support/warnings.h"

namespace deberta::sentence_modules_test {
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

  Pipeline open() const { return open_pipeline(folder_.path(), {.threads = 1}); }
  std::vector<float> vector(const EmbeddingOptions& options = {}) const {
    const TextInput input[] = {{kText}};
    const Pipeline pipeline = open();
    const EmbeddingAnswer answer = embed(pipeline, input, options).at(0);
    if (options.pools) {
      EXPECT_EQ(answer.vectors.size(), embedding_columns(pipeline, options));
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
  write_pooling("");  // with no mode set the library takes the mean
  EXPECT_EQ(vector(), pooled(Pooling::kMean));
  write("1_Pooling/config.json", R"({"pooling_mode_cls_token": 1})");
  EXPECT_EQ(vector(), pooled(Pooling::kCls));
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

TEST_F(SentenceModulesTest, APoolingListIsJoinedInItsOwnOrder) {
  write_modules({"Pooling"});
  write("1_Pooling/config.json", R"({"embedding_dimension": 16, "pooling_mode": ["mean", "cls"]})");
  std::vector<float> expected = pooled(Pooling::kMean);
  const std::vector<float> cls = pooled(Pooling::kCls);
  expected.insert(expected.end(), cls.begin(), cls.end());
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

TEST_F(SentenceModulesTest, ThePromptOfTheFolderStandsBeforeEveryText) {
  write_modules({"Pooling"});
  write("1_Pooling/config.json", R"({"pooling_mode": "mean"})");
  const std::vector<float> plain = vector();
  const TextInput prompted[] = {{"ask: some text of a few words"}};
  const std::vector<float> expected = embed(open(), prompted).at(0).vectors;
  write("config_sentence_transformers.json", R"({"default_prompt_name": "q", "prompts": {"q": "ask: "}})");
  EXPECT_EQ(vector(), expected);
  EXPECT_EQ(pooled(Pooling::kMean), plain);  // replaces everything that the folder says
  EmbeddingOptions own;
  own.rules.prompt = "";
  EXPECT_EQ(vector(own), plain);
  write("1_Pooling/config.json", R"({"pooling_mode": "mean", "include_prompt": false})");
  EXPECT_ERROR(vector(), kUnsupported, "include_prompt false: leaving the prompt out of the pooling");
  write("config_sentence_transformers.json", R"({"default_prompt_name": "q", "prompts": {"q": ""}})");
  EXPECT_EQ(vector(), plain);
  write("config_sentence_transformers.json", R"({"default_prompt_name": "query"})");
  EXPECT_EQ(vector(), plain);
  write("config_sentence_transformers.json", R"({"default_prompt_name": "q", "prompts": {"p": "ask: "}})");
  EXPECT_ERROR(load(), kConfig, "default_prompt_name: expected the name of a text in prompts, got \"q\" (string)");
}

// As sentence-transformers 6 gives them (tests/support/make_published_fixtures.py).
TEST(SentenceModules, AResidualIsAddedBehindTheActivation) {
  for (const std::string name : {"sentence6_residual", "sentence6_residual_to_5"}) {
    const test::TemporaryFolder folder;
    fs::copy(test::fixture("published/v3"), folder.path(), fs::copy_options::recursive);
    fs::copy(test::fixture("published/" + name), folder.path(),
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    fs::copy_file(test::fixture("tokenizer/bytes.model"), folder.path("spm.model"));
    const Json expected = load_json(folder.path("expected.json"));
    const Pipeline pipeline = open_pipeline(folder.path(), {.threads = 1});
    for (size_t i = 0; i < 2; ++i) {
      const TextInput input[] = {{expected.find("texts")->as_array()[i].as_string()}};
      const std::vector<float> got = embed(pipeline, input).at(0).vectors;
      const JsonArray& values = expected.find("vectors")->as_array()[i].as_array();
      ASSERT_EQ(got.size(), values.size());
      for (size_t d = 0; d < got.size(); ++d) EXPECT_NEAR(got[d], values[d].as_number(), 1e-5) << name << " " << d;
    }
  }
}

// The library does not load a class that is not from torch, and uses its default.
TEST_F(SentenceModulesTest, AnActivationOfTheModelsOwnCodeIsTanh) {
  write_modules({"Pooling", "Dense"});
  write_pooling(R"(, "pooling_mode_mean_tokens": true)");
  write_dense("2_Dense", 16, 3, "torch.nn.modules.activation.Tanh");
  const std::vector<float> expected = vector();
  write_dense("2_Dense", 16, 3, "my.module.Relu");
  EXPECT_EQ(vector(), expected);
}

TEST_F(SentenceModulesTest, ADenseLayerHasNoTensorThatNothingReads) {
  write_modules({"Pooling", "Dense"});
  write_pooling(R"(, "pooling_mode_mean_tokens": true)");
  write_dense("2_Dense", 16, 3, "torch.nn.modules.activation.Tanh");
  write("2_Dense/config.json", R"({"in_features": 16, "out_features": 3, "bias": false})");
  EXPECT_ERROR(load(), kTensors, "unexpected tensor linear.bias");
  write("2_Dense/config.json", R"({"in_features": 16, "out_features": 3, "use_residual": true})");
  EXPECT_ERROR(load(), kTensors, "1 tensor missing: residual.weight");
}

// The folder says nothing about vectors, so the library takes the mean.
TEST_F(SentenceModulesTest, ACrossEncoderHasItsActivationAndNoModules) {
  write("modules.json", std::string("[") + kTransformer + "]");
  write("sentence_bert_config.json", R"({"module_output_name": "scores", "max_seq_length": 1000000000000})");
  write("config_sentence_transformers.json",
        R"({"model_type": "CrossEncoder", "activation_fn": "torch.nn.modules.activation.Tanh"})");
  EXPECT_EQ(vector(), pooled(Pooling::kMean));
  EXPECT_EQ(load().max_tokens, 0u);
  EXPECT_EQ(open().config.sentence_transformers_activation, "Tanh");
  write("config_sentence_transformers.json", R"({"activation_fn": "torch.nn.modules.activation.Tanh"})");
  EXPECT_EQ(open().config.sentence_transformers_activation, "");
  fs::remove(folder_.path("modules.json"));
  write("config_sentence_transformers.json",
        R"({"model_type": "CrossEncoder", "activation_fn": "torch.nn.modules.activation.Tanh"})");
  EXPECT_EQ(open().config.sentence_transformers_activation, "");
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
  write_pooling(R"(, "pooling_mode_mean_tokens": true)");
  write("sentence_bert_config.json", R"({"module_output_name": "all_layer_embeddings"})");
  EXPECT_ERROR(vector(), kUnsupported, "module_output_name all_layer_embeddings: only token_embeddings");
  write("sentence_bert_config.json", R"({"processing_kwargs": {"text": {"max_length": 4}}})");
  EXPECT_ERROR(vector(), kUnsupported, "processing_kwargs changes how texts are read");
  EXPECT_NO_THROW(pooled(Pooling::kMean));
  fs::remove(folder_.path("sentence_bert_config.json"));
  write("config_sentence_transformers.json", R"({"model_type": "SparseEncoder"})");
  EXPECT_ERROR(vector(), kUnsupported, "model_type SparseEncoder is not supported");
  fs::remove(folder_.path("config_sentence_transformers.json"));
  write_modules({"Pooling", "WeightedLayerPooling"});
  EXPECT_ERROR(vector(), kUnsupported,
               "module WeightedLayerPooling: expected Transformer, Pooling, Dense, LayerNorm or Normalize");
  write_modules({"Pooling", "Pooling"});
  write("2_Pooling/config.json", "{}");
  EXPECT_ERROR(vector(), kUnsupported, "a second Pooling module is not supported");
  write("modules.json", R"([{"path": "", "type": "custom_model.Transformer"}])");
  EXPECT_ERROR(vector(), kUnsupported, "module custom_model.Transformer is the model's own code");
  write_modules({"Normalize"});
  EXPECT_ERROR(vector(), kUnsupported, "module Normalize before Pooling");
  write_modules({"Pooling", "Dense"});
  write_pooling(R"(, "pooling_mode_mean_tokens": true)");
  write_dense("2_Dense", 16, 3, "torch.nn.modules.activation.Mish");
  EXPECT_ERROR(vector(), kUnsupported, "activation_function torch.nn.modules.activation.Mish is not supported");
  write_modules({"Pooling", "Normalize"});
  write("2_Normalize/config.json", R"({"module_input_name": "token_embeddings"})");
  EXPECT_ERROR(vector(), kUnsupported, "module_input_name token_embeddings: only sentence_embedding");
}

TEST_F(SentenceModulesTest, WrongFilesAreErrorsOfTheirOwn) {
  write_modules({"Pooling"});
  EXPECT_ERROR(load(), kFileNotFound, "1_Pooling/config.json");
  EXPECT_ERROR(vector(), kUnsupported, "1_Pooling/config.json");
  EXPECT_NO_THROW(pooled(Pooling::kMean));
  write("1_Pooling/config.json", R"({"pooling_mode": ["mean", "best"]})");
  EXPECT_ERROR(load(), kConfig, "pooling_mode: expected cls, max, mean, mean_sqrt_len_tokens, weightedmean, lasttoken");
  write("1_Pooling/config.json", R"({"word_embedding_dimension": 768, "pooling_mode_cls_token": true})");
  {
    const test::Warnings warnings;
    EXPECT_EQ(load().poolings, std::vector<Pooling>{Pooling::kCls});
    EXPECT_NE(warnings.text.find("word_embedding_dimension: expected 16, the hidden_size, got 768 (integer)"),
              std::string::npos);
  }
  write_pooling(R"(, "pooling_mode_mean_tokens": true)");
  write_modules({"Pooling", "Dense"});
  write_dense("2_Dense", 12, 3, "torch.nn.modules.activation.Tanh");
  EXPECT_ERROR(load(), kConfig, "in_features: expected 16, the output size of the previous module, got 12 (integer)");
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
}  // namespace deberta::sentence_modules_test
