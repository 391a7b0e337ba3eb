// What a conversion writes: layouts, names, types, config.json; and that nothing is lost without a report.
#include "checkpoint/conversion.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "base/json.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/tensor_table.h"
#include "support/conversion_case.h"
#include "support/expect_error.h"

namespace deberta::conversion_test {
namespace {

using test::convert;
using test::TemporaryFolder;
using test::tiny_config;
using test::tiny_unshared_config;
using test::tiny_v1_config;
using test::write_text;
using test::write_tiny_model;

constexpr size_t kMany = size_t{1} << 24;
const std::string kSelf = "encoder.layer.1.attention.self.";
const ConversionOptions kToV1{.dtype = {}, .layout = Layout::kV1, .has_hf_head_names = false, .drops_delta = false};
const ConversionOptions kToV2{.dtype = {}, .layout = Layout::kV2, .has_hf_head_names = false, .drops_delta = false};

ConversionOptions to_type(DType dtype) {
  return {.dtype = dtype, .layout = {}, .has_hf_head_names = false, .drops_delta = false};
}

// A model folder that a test may change before it converts it.
class Conversions : public testing::Test {
 protected:
  std::string make(const std::string& name, const ModelConfig& config, Head head = Head::kSequence) {
    std::filesystem::create_directory(folder.path(name));
    write_tiny_model(folder.path(name), config, head);
    return folder.path(name);
  }
  // The model again, with tensors changed, added (those with new names) or left out (empty names).
  void edit(const std::string& model, const std::function<void(std::vector<TensorView>&)>& change) {
    std::vector<TensorView> tensors;
    const SafetensorsFile file(model + "/model.safetensors");
    tensors = file.tensors();
    change(tensors);
    write_safetensors(model + "/model.safetensors", tensors);
  }
  void zero_key_biases(const std::string& model) {
    edit(model, [&](std::vector<TensorView>& tensors) {
      for (TensorView& tensor : tensors) {
        if (tensor.name.ends_with("key_proj.bias")) tensor.bytes = Bytes(zeros).first(tensor.bytes.size());
      }
    });
  }
  std::string weights_of(const std::string& name) { return read_file(folder.path(name) + "/model.safetensors", kMany); }
  Json config_of(const std::string& name) { return load_json(folder.path(name) + "/config.json"); }

  const TemporaryFolder folder;
  const std::vector<std::byte> zeros = std::vector<std::byte>(4096);
};

const Change* find_change(const std::vector<Change>& changes, std::string_view subject, std::string_view change) {
  const auto at = std::find_if(changes.begin(), changes.end(),
                               [&](const Change& c) { return c.subject == subject && c.change == change; });
  return at == changes.end() ? nullptr : &*at;
}

TEST_F(Conversions, KeepWhatIsKept) {
  const std::string model = make("m", tiny_config());
  const std::vector<Change> changes = convert(model, folder.path("a"));
  for (const Change& change : changes) EXPECT_EQ(change.subject, "config.json") << change.subject;
  const SafetensorsFile file(folder.path("a/model.safetensors"));
  EXPECT_EQ(file.metadata(), (Metadata{{"format", "pt"}}));
  const SafetensorsFile source(model + "/model.safetensors");
  ASSERT_EQ(file.tensors().size(), source.tensors().size());
  for (const TensorView& tensor : source.tensors()) {
    ASSERT_NE(file.find(tensor.name), nullptr) << tensor.name;
    EXPECT_EQ(to_text(file.find(tensor.name)->bytes), to_text(tensor.bytes)) << tensor.name;
  }
  EXPECT_TRUE(convert(folder.path("a"), folder.path("b")).empty());
  EXPECT_EQ(weights_of("a"), weights_of("b"));
  EXPECT_EQ(config_of("a").dump(), config_of("b").dump());
}

// Row r of in_proj belongs to head r / 3K and, within it, to part r / K % 3; each value encodes its row.
TEST_F(Conversions, SplitTheFusedProjectionHeadByHead) {
  const ModelConfig config = tiny_v1_config();
  const std::string model = make("m", config);
  std::vector<float> rows(3 * 16 * 16);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<float>(i / 16);
  edit(model, [&](std::vector<TensorView>& tensors) {
    for (TensorView& tensor : tensors) {
      if (tensor.name.ends_with("layer.1.attention.self.in_proj.weight")) tensor.bytes = std::as_bytes(std::span(rows));
    }
  });
  convert(model, folder.path("v2"), kToV2);
  const Checkpoint checkpoint = Checkpoint::open(folder.path("v2"));
  const std::vector<std::string> parts = {"query_proj.weight", "key_proj.weight", "value_proj.weight"};
  for (size_t part = 0; part < parts.size(); ++part) {
    const std::vector<float> got = to_fp32(*checkpoint.find(kSelf + parts[part]));
    for (size_t row = 0; row < 16; ++row)
      EXPECT_EQ(got[row * 16 + 5], static_cast<float>(row / 8 * 24 + part * 8 + row % 8)) << parts[part] << row;
  }
}

// Under the types of transformers it would load, and read the first token.
TEST_F(Conversions, OfAPoolerThatReadsAllTokensHaveAModelTypeOfTheirOwn) {
  ModelConfig config = tiny_unshared_config();
  config.classifier_pooling = ClassifierPooling::kAttention;
  const auto type_of = [&](const std::string& name) { return config_of(name).find("model_type")->as_string(); };
  const std::string model = make("m", config);
  zero_key_biases(model);
  convert(model, folder.path("v2"));
  EXPECT_EQ(type_of("v2"), "deberta-v2-pooled");
  EXPECT_TRUE(convert(folder.path("v2"), folder.path("again")).empty());
  convert(folder.path("v2"), folder.path("v1"), kToV1);
  EXPECT_EQ(type_of("v1"), "deberta-pooled");
  EXPECT_NE(Checkpoint::open(folder.path("v1")).find("pooler.attention.weight"), nullptr);
  convert(folder.path("v1"), folder.path("back"), kToV2);
  EXPECT_EQ(type_of("back"), "deberta-v2-pooled");
  convert(make("token", config, Head::kToken), folder.path("token-copy"));
  EXPECT_EQ(type_of("token-copy"), "deberta-v2") << "whose head pools nothing";
}

TEST_F(Conversions, OfACausalModelSayThatItIsOne) {
  ModelConfig causal = tiny_config();
  causal.is_causal = true;
  convert(make("m", causal, Head::kMaskedLm), folder.path("copy"));
  const ModelConfig config = load_model_config(folder.path("copy/config.json"));
  EXPECT_TRUE(config.is_causal);
  EXPECT_EQ(config.architectures, std::vector<std::string>{"DebertaV2ForCausalLM"});
  convert(make("both", tiny_config(), Head::kMaskedLm), folder.path("plain"));
  EXPECT_EQ(load_python_json(folder.path("plain/config.json")).find("is_decoder"), nullptr) << "all have that default";
}

TEST_F(Conversions, ToVersion2GiveKeysABiasOfZerosAndSaySo) {
  const std::vector<Change> changes = convert(make("m", tiny_v1_config()), folder.path("v2"), kToV2);
  const Checkpoint checkpoint = Checkpoint::open(folder.path("v2"));
  for (const char* name : {"key_proj.bias", "pos_key_proj.bias"}) {
    const TensorView* bias = checkpoint.find(kSelf + name);
    ASSERT_NE(bias, nullptr) << name;
    EXPECT_EQ(to_fp32(*bias), std::vector<float>(16));
    EXPECT_NE(find_change(changes, kSelf + name, "made"), nullptr);
  }
  EXPECT_EQ(checkpoint.find(kSelf + "in_proj.weight"), nullptr);
  const ModelConfig config = load_model_config(folder.path("v2/config.json"));
  EXPECT_EQ(config.layout, Layout::kV2);
  EXPECT_FALSE(config.share_att_key);
  EXPECT_EQ(config.architectures, std::vector<std::string>{"DebertaV2ForSequenceClassification"});
  EXPECT_TRUE(compare_tensors(checkpoint, config, facts_of(Head::kSequence), "").errors.empty());
  const Change* split = find_change(changes, "deberta." + kSelf + "in_proj.weight", "split");
  ASSERT_NE(split, nullptr);
  EXPECT_EQ(split->detail, "query_proj.weight, key_proj.weight, value_proj.weight");
  EXPECT_EQ(find_change(changes, "deberta." + kSelf + "q_bias", "renamed")->detail, "query_proj.bias");
}

TEST_F(Conversions, FromVersion1ThereAndBackAreBitwise) {
  convert(make("m", tiny_v1_config()), folder.path("v1"));
  convert(folder.path("v1"), folder.path("v2"), kToV2);
  convert(folder.path("v2"), folder.path("back"), kToV1);
  EXPECT_NE(weights_of("v1"), weights_of("v2"));
  EXPECT_EQ(weights_of("v1"), weights_of("back"));
  EXPECT_EQ(config_of("v1").dump(), config_of("back").dump());
}

TEST_F(Conversions, FromVersion2ThereAndBackAreBitwise) {
  const std::string model = make("m", tiny_unshared_config());
  zero_key_biases(model);
  convert(model, folder.path("v2"));
  convert(folder.path("v2"), folder.path("v1"), kToV1);
  convert(folder.path("v1"), folder.path("back"), kToV2);
  EXPECT_EQ(weights_of("v2"), weights_of("back"));
  EXPECT_EQ(config_of("v2").dump(), config_of("back").dump());
  EXPECT_EQ(config_of("v1").find("model_type")->as_string(), "deberta");
}

TEST_F(Conversions, ToVersion1AreRefusedWithEveryReason) {
  const auto refuse = [&](const ModelConfig& config, const std::string& reason) {
    std::filesystem::remove_all(folder.path("m"));
    const std::string model = make("m", config);
    EXPECT_ERROR(convert(model, folder.path("v1"), kToV1), kUnsupported, reason);
    EXPECT_FALSE(std::filesystem::exists(folder.path("v1")));
  };
  refuse(tiny_unshared_config(),
         "no key bias, but these are not zero: "
         "encoder.layer.0.attention.self.key_proj.bias");
  refuse(tiny_unshared_config(), "encoder.layer.1.attention.self.pos_key_proj.bias");
  ModelConfig config = tiny_unshared_config();
  config.share_att_key = true;
  refuse(config, "share_att_key is true");
  config = tiny_unshared_config();
  config.has_rel_layer_norm = true;
  refuse(config, "norm_rel_ebd requires it");
  config = tiny_unshared_config();
  config.position_buckets = 8;
  refuse(config, "position_buckets is 8");
  config = tiny_unshared_config();
  config.conv_kernel_size = 3;
  refuse(config, "conv_kernel_size is 3");
  refuse(config, "not zero");
}

TEST_F(Conversions, JoinOnlyPartsOfOneType) {
  const std::string model = make("m", tiny_unshared_config());
  zero_key_biases(model);
  const std::vector<std::byte> halves(512);
  edit(model, [&](std::vector<TensorView>& tensors) {
    for (TensorView& tensor : tensors) {
      if (!tensor.name.ends_with("0.attention.self.key_proj.weight")) continue;
      tensor.dtype = DType::kF16;
      tensor.bytes = Bytes(halves);
    }
  });
  EXPECT_ERROR(convert(model, folder.path("a"), kToV1), kUnsupported,
               "query, key and value of one type, got F32 and F16");
}

TEST_F(Conversions, RoundEveryFloatingPointTensor) {
  const std::string model = make("m", tiny_config());
  for (const DType dtype : {DType::kF16, DType::kBf16}) {
    const std::string name(to_string(dtype));
    const std::vector<Change> changes = convert(model, folder.path(name), to_type(dtype));
    const Checkpoint written = Checkpoint::open(folder.path(name));
    for (const TensorView& tensor : written.tensors()) EXPECT_EQ(tensor.dtype, dtype);
    EXPECT_EQ(find_change(changes, "classifier.weight", "cast")->detail, "F32 to " + name);
    // What a 16-bit file holds, single precision holds too: to it and back is bitwise.
    convert(folder.path(name), folder.path(name + "-wide"), to_type(DType::kF32));
    convert(folder.path(name + "-wide"), folder.path(name + "-back"), to_type(dtype));
    EXPECT_EQ(weights_of(name), weights_of(name + "-back"));
  }
  EXPECT_EQ(config_of("F16").find("torch_dtype")->as_string(), "float16");
  EXPECT_EQ(config_of("BF16").find("torch_dtype")->as_string(), "bfloat16");
}

TEST_F(Conversions, NameTheTensorThatDoesNotFitIntoHalfPrecision) {
  const std::string model = make("m", tiny_config());
  const std::vector<float> large = {1, 70000, 3};
  edit(model, [&](std::vector<TensorView>& tensors) {
    for (TensorView& tensor : tensors) {
      if (tensor.name == "classifier.bias") tensor.bytes = std::as_bytes(std::span(large));
    }
  });
  EXPECT_ERROR(convert(model, folder.path("a"), to_type(DType::kF16)), kNotFinite,
               "classifier.bias: the value 70000 is too large for F16");
  EXPECT_FALSE(std::filesystem::exists(folder.path("a")));
  convert(model, folder.path("b"), to_type(DType::kBf16));
}

TEST_F(Conversions, WriteTheHeadUnderTheNamesAskedFor) {
  const std::string model = make("m", tiny_config(), Head::kMaskedLm);
  const ConversionOptions to_hf{.dtype = {}, .layout = {}, .has_hf_head_names = true, .drops_delta = false};
  const std::vector<Change> changes = convert(model, folder.path("hf"), to_hf);
  const SafetensorsFile file(folder.path("hf/model.safetensors"));
  EXPECT_NE(file.find("cls.predictions.transform.dense.weight"), nullptr);
  EXPECT_NE(file.find("cls.predictions.bias"), nullptr);
  EXPECT_EQ(find_change(changes, "lm_predictions.lm_head.bias", "renamed")->detail, "cls.predictions.bias");
  EXPECT_TRUE(config_of("hf").find("legacy")->as_bool());
  convert(model, folder.path("original"));
  convert(folder.path("hf"), folder.path("back"));
  EXPECT_EQ(weights_of("original"), weights_of("back"));
  EXPECT_FALSE(config_of("back").find("tie_word_embeddings")->as_bool());
}

TEST_F(Conversions, PutThePrefixBack) {
  const std::string model = make("m", tiny_config());
  convert(model, folder.path("right"));
  for (const std::string prefix : {"", "bert."}) {
    edit(model, [&](std::vector<TensorView>& tensors) {
      for (TensorView& tensor : tensors) {
        const size_t at = tensor.name.find("embeddings.") == std::string::npos ? tensor.name.find("encoder.") : 0;
        if (tensor.name.starts_with("deberta.")) tensor.name = prefix + tensor.name.substr(8);
        if (tensor.name.starts_with("bert.")) tensor.name = prefix + tensor.name.substr(5);
        if (prefix == "bert." && (tensor.name.starts_with("embeddings.") || at == 0) &&
            !tensor.name.starts_with("bert."))
          tensor.name = prefix + tensor.name;
      }
    });
    const std::vector<Change> changes = convert(model, folder.path("from " + prefix));
    EXPECT_EQ(weights_of("right"), weights_of("from " + prefix));
    EXPECT_EQ(find_change(changes, prefix + "embeddings.LayerNorm.bias", "renamed")->detail,
              "deberta.embeddings.LayerNorm.bias");
  }
}

TEST_F(Conversions, ReportWhatIsLeftOutAndWhatIsKeptForTrainingOnly) {
  const std::string model = make("m", tiny_config(), Head::kMaskedLm);
  const std::vector<int64_t> ids = {0, 1, 2};
  edit(model, [&](std::vector<TensorView>& tensors) {
    std::vector<TensorView> added = {
        {"deberta.embeddings.position_ids", DType::kI64, {1, 3}, std::as_bytes(std::span(ids))}};
    for (const TensorView& tensor : tensors) {
      if (tensor.name != "deberta.embeddings.word_embeddings.weight") continue;
      added.push_back({"deberta.embeddings.word_embeddings._weight", tensor.dtype, tensor.shape, tensor.bytes});
      added.push_back({"cls.predictions.decoder.weight", tensor.dtype, tensor.shape, tensor.bytes});
    }
    tensors.insert(tensors.end(), added.begin(), added.end());
  });
  const std::vector<Change> changes = convert(model, folder.path("a"));
  EXPECT_NE(find_change(changes, "deberta.embeddings.position_ids", "dropped"), nullptr);
  EXPECT_NE(find_change(changes, "cls.predictions.decoder.weight", "dropped"), nullptr);
  EXPECT_NE(find_change(changes, "deberta.embeddings.word_embeddings._weight", "kept"), nullptr);
  const SafetensorsFile file(folder.path("a/model.safetensors"));
  EXPECT_NE(file.find("deberta.embeddings.word_embeddings._weight"), nullptr);
  EXPECT_EQ(file.find("deberta.embeddings.position_ids"), nullptr);
  EXPECT_EQ(file.find("cls.predictions.decoder.weight"), nullptr);
  const std::vector<Change> without =
      convert(model, folder.path("b"), {.dtype = {}, .layout = {}, .has_hf_head_names = false, .drops_delta = true});
  EXPECT_NE(find_change(without, "deberta.embeddings.word_embeddings._weight", "dropped"), nullptr);
  EXPECT_EQ(SafetensorsFile(folder.path("b/model.safetensors")).find("deberta.embeddings.word_embeddings._weight"),
            nullptr);
}

TEST_F(Conversions, RefuseAModelWhoseTensorsAreNotItsOwn) {
  const std::string model = make("m", tiny_config());
  edit(model, [](std::vector<TensorView>& tensors) { tensors.back().name = "something.else"; });
  EXPECT_ERROR(convert(model, folder.path("a")), kTensors, "unexpected tensor something.else");
}

TEST_F(Conversions, CarryAlongWhatNothingReadsButIntoNoOtherLayout) {
  const std::string model = make("m", tiny_v1_config());
  const std::string values(24, '\0');
  edit(model, [&](std::vector<TensorView>& tensors) {
    tensors.push_back({"something.else", DType::kF32, {6}, to_bytes(std::string_view(values))});
  });
  convert(model, folder.path("a"));
  EXPECT_NE(SafetensorsFile(folder.path("a/model.safetensors")).find("something.else"), nullptr);
  ConversionOptions to_v2;
  to_v2.layout = Layout::kV2;
  EXPECT_ERROR(convert(model, folder.path("b"), to_v2), kTensors, "something.else");
}

TEST_F(Conversions, WriteOutEveryKeyThatDecides) {
  const std::string model = make("m", tiny_v1_config());
  write_text(model + "/config.json",
             R"({"vocab_size": 50, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
                 "intermediate_size": 24, "max_position_embeddings": 16, "hidden_act": "relu", "padding_idx": 3,
                 "relative_attention": true, "pos_att_type": "p2c|c2p", "position_biased_input": false,
                 "my_own": {"a": [1, null]}, "id2label": {"0": "x", "1": "y", "2": "z"}, "label2id": {"x": 2}})");
  const std::vector<Change> changes = convert(model, folder.path("a"));
  const Json config = config_of("a");
  const auto expect = [&](const char* key, const char* value) {
    ASSERT_NE(config.find(key), nullptr) << key;
    EXPECT_EQ(config.find(key)->dump(), value) << key;
  };
  expect("model_type", "\"deberta\"");  // from the tensors
  expect("pooler_hidden_act", "\"relu\"");
  expect("pad_token_id", "3");
  expect("max_relative_positions", "16");
  expect("norm_rel_ebd", "\"none\"");
  expect("layer_norm_eps", "1e-07");
  expect("my_own", R"({"a": [1, null]})");
  expect("label2id", R"({"x": 0, "y": 1, "z": 2})");
  expect("architectures", R"(["DebertaForSequenceClassification"])");
  EXPECT_EQ(std::count_if(changes.begin(), changes.end(),
                          [](const Change& c) { return c.detail == "pooler_hidden_act: \"relu\" (was missing)"; }),
            1);
  // Both describe the same model; the second spells out the defaults.
  const ModelConfig before = load_model_config(model + "/config.json");
  const ModelConfig after = load_model_config(folder.path("a/config.json"));
  EXPECT_EQ(before.has_c2p, after.has_c2p);
  EXPECT_EQ(before.pooler_hidden_act, after.pooler_hidden_act);
  EXPECT_EQ(before.cls_dropout, after.cls_dropout);
  EXPECT_EQ(before.pad_token_id, after.pad_token_id);
}

TEST_F(Conversions, WriteAMissingAttentionTypeAsTheOriginalMeansIt) {
  for (const bool is_v1 : {false, true}) {
    ModelConfig tiny = is_v1 ? tiny_v1_config() : tiny_config();
    tiny.has_p2c = false;
    const std::string model = make(is_v1 ? "v1" : "v2", tiny);
    JsonObject keys = load_json(model + "/config.json").as_object();
    std::erase_if(keys, [](const JsonMember& key) { return key.first == "pos_att_type"; });
    write_text(model + "/config.json", Json(keys).dump());
    convert(model, model + "-a");
    EXPECT_EQ(load_json(model + "-a/config.json").find("pos_att_type")->dump(), "\"c2p\"");
  }
  ModelConfig none = tiny_v1_config();
  none.has_c2p = none.has_p2c = false;
  convert(make("none", none), folder.path("none-a"));
  EXPECT_EQ(config_of("none-a").find("pos_att_type")->dump(), "[]");  // transformers counts the names of version 1
}

TEST_F(Conversions, MakeTheDiscriminatorOfTwoModelsTheModel) {
  const std::string model = make("m", tiny_config(), Head::kNone);
  const std::string inner = read_file(model + "/config.json", kMany);
  write_text(model + "/config.json",
             R"({"generator": {"a": 1}, "embedding_sharing": "gdes", "discriminator": )" + inner + "}");
  convert(model, folder.path("a"));
  const Json config = config_of("a");
  EXPECT_EQ(config.find("hidden_size")->as_integer(), 16);
  EXPECT_EQ(config.find("embedding_sharing")->as_string(), "gdes");
  EXPECT_NE(config.find("generator"), nullptr);
  EXPECT_EQ(config.find("discriminator"), nullptr);
}

TEST_F(Conversions, AreVerifiedAgainstWhatWasWritten) {
  const std::string model = make("m", tiny_config());
  const Checkpoint checkpoint = Checkpoint::open(model);
  const Conversion conversion =
      plan_conversion(checkpoint, load_model_config(model + "/config.json"), to_type(DType::kBf16), model);
  convert(model, folder.path("a"), to_type(DType::kBf16));
  verify_tensors(conversion, Checkpoint::open(folder.path("a")), "a");
  EXPECT_ERROR(verify_tensors(conversion, checkpoint, "a"), kTensors, "expected BF16");
  edit(folder.path("a"),
       [&](std::vector<TensorView>& tensors) { tensors[0].bytes = Bytes(zeros).first(tensors[0].bytes.size()); });
  EXPECT_ERROR(verify_tensors(conversion, Checkpoint::open(folder.path("a")), "a"), kTensors,
               "not its source rounded to BF16");
  edit(folder.path("a"), [](std::vector<TensorView>& tensors) { tensors.erase(tensors.begin()); });
  EXPECT_ERROR(verify_tensors(conversion, Checkpoint::open(folder.path("a")), "a"), kTensors, "missing");
}

}  // namespace
}  // namespace deberta::conversion_test
