// Parsing of config.json: forms that are accepted, defaults, rules between keys, write-back.
#include "config/model_config.h"

#include <gtest/gtest.h>

#include "support/expect_error.h"
#include "support/paths.h"
#include "support/warnings.h"

namespace deberta::model_config_test {
namespace {

// `{"vocab_size": 100, ...members}`.
ModelConfig parse(const std::string& members = "") {
  return parse_model_config(parse_python_json("{\"vocab_size\": 100" + (members.empty() ? "" : ", " + members) + "}",
                                              "config.json", {}, JsonWarnings::kSilent),
                            "config.json");
}

using test::Warnings;

// A file of transformers, with the keys that are not guessed and one that would cause a warning.
const std::string kV2 =
    R"("model_type": "deberta-v2", "num_hidden_layers": 12, "num_attention_heads": 12, "pos_att_type": [])";

ModelConfig parse_hf(const std::string& members) {
  return parse_model_config(parse_json("{" + members + "}", "config.json"), "config.json", ConfigRules::kHf);
}

TEST(ModelConfig, HasTheOriginalsDefaults) {
  const ModelConfig c = parse();
  EXPECT_EQ(c.layout, Layout::kV2);
  EXPECT_EQ(c.hidden_size, 768);
  EXPECT_EQ(c.num_hidden_layers, 12);
  EXPECT_EQ(c.num_attention_heads, 12);
  EXPECT_EQ(c.attention_head_size, 64);
  EXPECT_EQ(c.intermediate_size, 3072);
  EXPECT_EQ(c.hidden_act, Activation::kGelu);
  EXPECT_EQ(c.hidden_dropout_prob, 0.1);
  EXPECT_EQ(c.attention_probs_dropout_prob, 0.1);
  EXPECT_EQ(c.layer_norm_eps, 1e-7);
  EXPECT_EQ(c.initializer_range, 0.02);
  EXPECT_EQ(c.pad_token_id, 0);
  EXPECT_EQ(c.max_position_embeddings, 512);
  EXPECT_EQ(c.type_vocab_size, 0);
  EXPECT_EQ(c.embedding_size, 768);
  EXPECT_TRUE(c.position_biased_input);
  EXPECT_FALSE(c.relative_attention);
  EXPECT_EQ(c.max_relative_positions, 512);
  EXPECT_EQ(c.position_buckets, -1);
  EXPECT_EQ(c.span(), 512);
  EXPECT_TRUE(c.has_c2p);
  EXPECT_FALSE(c.has_p2c);
  EXPECT_EQ(c.attention_terms(), 2);
  EXPECT_FALSE(c.share_att_key);
  EXPECT_FALSE(c.has_rel_layer_norm);
  EXPECT_EQ(c.conv_kernel_size, 0);
  EXPECT_EQ(c.conv_groups, 1);
  EXPECT_EQ(c.conv_act, Activation::kTanh);
  EXPECT_EQ(c.pooler_hidden_size, 768);
  EXPECT_EQ(c.pooler_dropout, 0);
  EXPECT_EQ(c.cls_dropout, 0.1);
  EXPECT_FALSE(c.talking_head);
  EXPECT_FALSE(c.is_causal);
  EXPECT_EQ(c.problem_type, ProblemType::kUnset);
  EXPECT_TRUE(c.labels.empty());
  EXPECT_TRUE(c.architectures.empty());
}

TEST(ModelConfig, DefaultsFollowTheKeysTheyStandFor) {
  const ModelConfig c = parse(
      R"("hidden_size": 96, "num_attention_heads": 3, "max_position_embeddings": 40, "hidden_dropout_prob": 0.25)");
  EXPECT_EQ(c.attention_head_size, 32);
  EXPECT_EQ(c.embedding_size, 96);
  EXPECT_EQ(c.pooler_hidden_size, 96);
  EXPECT_EQ(c.max_relative_positions, 40);
  EXPECT_EQ(c.cls_dropout, 0.25);
  EXPECT_EQ(parse(R"("cls_dropout": 0)").cls_dropout, 0);
  EXPECT_EQ(parse(R"("cls_dropout": null, "hidden_dropout_prob": 0.5)").cls_dropout, 0.5);
  EXPECT_EQ(parse(R"("cls_drop_out": 0.75)").cls_dropout, 0.75);
}

TEST(ModelConfig, RelativePositionsBelowOneMeanMaxPositionEmbeddings) {
  for (const std::string value : {"-1", "0", "-7"})
    EXPECT_EQ(parse("\"max_relative_positions\": " + value).max_relative_positions, 512);
  EXPECT_EQ(parse("\"max_relative_positions\": 1").max_relative_positions, 1);
  EXPECT_EQ(parse("\"max_relative_positions\": 24, \"position_buckets\": 16").span(), 16);
  EXPECT_EQ(parse("\"max_relative_positions\": 24").span(), 24);
}

TEST(ModelConfig, TakesAttentionTypesInEveryForm) {
  struct Row {
    std::string value;
    bool has_c2p, has_p2c;
  };
  for (const Row& row : std::vector<Row>{{R"("p2c|c2p")", true, true},
                                         {R"("c2p|p2c")", true, true},
                                         {R"(["p2c", "c2p"])", true, true},
                                         {R"(["c2p|p2c"])", true, true},
                                         {R"("C2P | P2C")", true, true},
                                         {R"("c2p")", true, false},
                                         {R"(["p2c"])", false, true},
                                         {R"("none")", false, false},
                                         {R"(["none"])", false, false},
                                         {R"("")", false, false},
                                         {"[]", false, false},
                                         {"null", false, false}}) {
    const ModelConfig c = parse("\"pos_att_type\": " + row.value);
    EXPECT_EQ(c.has_c2p, row.has_c2p) << row.value;
    EXPECT_EQ(c.has_p2c, row.has_p2c) << row.value;
    EXPECT_EQ(c.attention_terms(), 1 + (row.has_c2p ? 1 : 0) + (row.has_p2c ? 1 : 0));
  }
  EXPECT_ERROR(parse(R"("pos_att_type": "c2p|q2p")"), kConfig,
               "config.json: pos_att_type: expected c2p, p2c, p2p or none, got \"q2p\"");
  EXPECT_ERROR(parse(R"("pos_att_type": ["c2p", 3])"), kConfig,
               "pos_att_type: expected a list of names, got 3 (integer)");
}

TEST(ModelConfig, ReadsTheFormsOfAblations) {
  const ModelConfig plain = parse(R"("pos_att_type": "c2p|p2c")");
  EXPECT_FALSE(plain.has_p2p || plain.norm_first || plain.shares_layers || plain.has_own_decoder ||
               plain.has_fixed_distances || plain.convolves_input || plain.feed_forward_dropout > 0);
  EXPECT_TRUE(plain.scales_by_terms);
  const ModelConfig p2p = parse(R"("pos_att_type": "c2p|p2c|p2p")");
  EXPECT_TRUE(p2p.has_c2p && p2p.has_p2c && p2p.has_p2p);
  EXPECT_EQ(p2p.attention_terms(), 4);
  EXPECT_EQ(parse(R"("pos_att_type": "c2p|p2c", "scale_by_terms": false)").attention_terms(), 1);
  EXPECT_TRUE(parse(R"("norm_first": true)").norm_first);
  EXPECT_TRUE(parse(R"("share_layers": true)").shares_layers);
  EXPECT_TRUE(parse(R"("own_decoder_layers": true)").has_own_decoder);
  EXPECT_TRUE(parse(R"("fixed_relative_table": true)").has_fixed_distances);
  EXPECT_EQ(parse(R"("feed_forward_dropout": 0.25)").feed_forward_dropout, 0.25);
  const ModelConfig at_input = parse(R"("conv_at_input": true, "conv_kernel_size": 3, "hidden_size": 96)");
  EXPECT_TRUE(at_input.convolves_input);
  EXPECT_EQ(at_input.conv_groups, 96) << "column by column, unless the file says otherwise";
  EXPECT_EQ(parse(R"("conv_at_input": true, "conv_kernel_size": 3, "conv_groups": 2)").conv_groups, 2);
}

TEST(ModelConfig, ReadsWhatThePoolerReads) {
  EXPECT_EQ(parse("").classifier_pooling, ClassifierPooling::kFirst);
  EXPECT_EQ(parse(R"("classifier_pooling": null)").classifier_pooling, ClassifierPooling::kFirst);
  for (const ClassifierPooling pooling :
       {ClassifierPooling::kFirst, ClassifierPooling::kMean, ClassifierPooling::kMax, ClassifierPooling::kAttention}) {
    const std::string key = "\"classifier_pooling\": " + quote_json(to_string(pooling));
    EXPECT_EQ(parse(key).classifier_pooling, pooling) << key;
  }
  const std::string expected = R"(classifier_pooling: expected "first", "mean", "max" or "attention", got )";
  for (const char* value : {"\"cls\"", "\"Mean\"", "true", "1"})
    EXPECT_ERROR(parse(std::string("\"classifier_pooling\": ") + value), kConfig, expected + value);
}

TEST(ModelConfig, AModelTypeOfItsOwnSaysThatThePoolerReadsAllTokens) {
  const ModelConfig v1 = parse(R"("model_type": "deberta-pooled", "classifier_pooling": "mean")");
  EXPECT_EQ(v1.layout, Layout::kV1);
  const std::string sizes = R"("num_hidden_layers": 12, "num_attention_heads": 12, "pos_att_type": [], )";
  const ModelConfig v2 = parse(sizes + R"("model_type": "deberta-v2-pooled", "classifier_pooling": "max")");
  EXPECT_EQ(v2.layout, Layout::kV2);
  EXPECT_EQ(model_type_of(v1, true), "deberta-pooled");
  EXPECT_EQ(model_type_of(v2, true), "deberta-v2-pooled");
  EXPECT_EQ(model_type_of(v2, false), "deberta-v2") << "of another head";
  EXPECT_EQ(model_type_of(parse(kV2), true), "deberta-v2");
  for (const char* rest : {"", R"(, "classifier_pooling": "first")"})
    EXPECT_ERROR(
        parse(sizes + R"("model_type": "deberta-v2-pooled")" + rest), kConfig,
        R"(classifier_pooling: expected "mean", "max" or "attention" beside model_type "deberta-v2-pooled", got )");
  EXPECT_ERROR(parse(R"("model_type": "bert-pooled", "classifier_pooling": "max")"), kConfig, "model_type: expected");
}

TEST(ModelConfig, TellsTheLayoutFromModelType) {
  EXPECT_EQ(parse(R"("model_type": "deberta")").layout, Layout::kV1);
  EXPECT_EQ(parse(kV2).layout, Layout::kV2);
  EXPECT_ERROR(parse(R"("model_type": "bert")"), kConfig,
               R"(model_type: expected "deberta" or "deberta-v2", got "bert" (string))");
}

TEST(ModelConfig, ReadsTheRelativeNorm) {
  EXPECT_TRUE(parse(R"("norm_rel_ebd": "layer_norm")").has_rel_layer_norm);
  EXPECT_TRUE(parse(R"("norm_rel_ebd": "none|Layer_Norm")").has_rel_layer_norm);
  EXPECT_FALSE(parse(R"("norm_rel_ebd": "none")").has_rel_layer_norm);
  EXPECT_ERROR(parse(R"("norm_rel_ebd": "batch_norm")"), kConfig,
               R"(norm_rel_ebd: expected "none" or "layer_norm", got "batch_norm")");
}

TEST(ModelConfig, KnowsTheActivations) {
  const std::vector<std::pair<std::string, Activation>> table = {
      {"gelu", Activation::kGelu},         {"relu", Activation::kRelu},
      {"swish", Activation::kSwish},       {"tanh", Activation::kTanh},
      {"linear", Activation::kLinear},     {"sigmoid", Activation::kSigmoid},
      {"mish", Activation::kMish},         {"quick_gelu", Activation::kQuickGelu},
      {"gelu_new", Activation::kGeluTanh}, {"gelu_10", Activation::kGelu10},
      {"relu6", Activation::kRelu6},       {"relu2", Activation::kRelu2},
      {"laplace", Activation::kLaplace},   {"leaky_relu", Activation::kLeakyRelu}};
  for (const auto& [name, value] : table) {
    EXPECT_EQ(parse("\"hidden_act\": \"" + name + "\"").hidden_act, value);
    EXPECT_EQ(parse("\"conv_act\": \"" + name + "\"").conv_act, value);
    EXPECT_EQ(parse("\"pooler_hidden_act\": \"" + name + "\"").pooler_hidden_act, value);
    EXPECT_EQ(to_string(value), name);
  }
  EXPECT_EQ(parse(R"("hidden_act": "silu")").hidden_act, Activation::kSwish);
  EXPECT_EQ(parse(R"("hidden_act": "gelu_python")").hidden_act, Activation::kGelu);
  for (const std::string name : {"gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_python_tanh", "gelu_accurate"})
    EXPECT_EQ(parse("\"hidden_act\": \"" + name + "\"").hidden_act, Activation::kGeluTanh) << name;
  EXPECT_ERROR(parse(R"("hidden_act": "__import__")"), kConfig, R"(hidden_act: expected one of "gelu", "relu")");
  for (const std::string name : {"prelu", "xielu", "GELU", ""})
    EXPECT_ERROR(parse("\"hidden_act\": \"" + name + "\""), kConfig, "(string)");
}

// model.md#configuration: without a pooling block the original uses hidden_act, transformers uses gelu.
TEST(ModelConfig, PoolerActivationDependsOnTheKindOfFile) {
  EXPECT_EQ(parse(R"("hidden_act": "relu")").pooler_hidden_act, Activation::kRelu);
  EXPECT_EQ(parse(R"("hidden_act": "relu", )" + kV2).pooler_hidden_act, Activation::kGelu);
  EXPECT_EQ(parse(R"("hidden_act": "relu", "pooling": {"dropout": 0})").pooler_hidden_act, Activation::kGelu);
  EXPECT_EQ(parse(R"("hidden_act": "relu", "pooling": {"hidden_act": "tanh"})").pooler_hidden_act, Activation::kTanh);
  EXPECT_EQ(parse(R"("hidden_act": "relu", "pooler_hidden_act": "tanh")").pooler_hidden_act, Activation::kTanh);
}

TEST(ModelConfig, ReadsThePoolingBlock) {
  const ModelConfig c = parse(R"("pooling": {"hidden_size": 32, "dropout": 0.5, "hidden_act": "tanh", "other": 1})");
  EXPECT_EQ(c.pooler_hidden_size, 32);
  EXPECT_EQ(c.pooler_dropout, 0.5);
  EXPECT_EQ(parse(R"("pooling": {"dropout": 2})").pooler_dropout, 0) << "nothing reads it";
  EXPECT_ERROR(parse(R"("pooling": 3)"), kConfig, "pooling: expected an object, got 3");
}

TEST(ModelConfig, TwoNamesOfOneKeyMustAgree) {
  EXPECT_EQ(parse(R"("padding_idx": 7)").pad_token_id, 7);
  EXPECT_EQ(parse(R"("padding_idx": 7, "pad_token_id": 7)").pad_token_id, 7);
  EXPECT_EQ(parse(R"("padding_idx": 7, "pad_token_id": null)").pad_token_id, 7);
  EXPECT_ERROR(parse(R"("pooler_hidden_act": "tanh", "pooling": {"hidden_act": "relu"})"), kConfig,
               "pooler_hidden_act: expected the same value as pooling.hidden_act, got \"tanh\"");
}

TEST(ModelConfig, RulesBetweenKeys) {
  EXPECT_ERROR(parse(R"("hidden_size": 100)"), kConfig,
               "hidden_size: expected a multiple of num_attention_heads 12, got 100");
  EXPECT_ERROR(parse(R"("attention_head_size": 32)"), kConfig,
               "attention_head_size: expected hidden_size / num_attention_heads = 768 / 12, got 32");
  EXPECT_ERROR(parse(R"("conv_kernel_size": 4)"), kConfig,
               "conv_kernel_size: expected 0 or an odd integer up to 99, got 4");
  EXPECT_EQ(parse(R"("conv_groups": 5)").conv_kernel_size, 0) << "no convolution, no groups";
  EXPECT_ERROR(parse(R"("conv_groups": 5, "conv_kernel_size": 3)"), kConfig,
               "conv_groups: expected a divisor of hidden_size 768, got 5");
  EXPECT_ERROR(parse(R"("pad_token_id": 100)"), kConfig, "pad_token_id: expected an id below vocab_size 100, got 100");
  EXPECT_EQ(parse(R"("position_buckets": 256, "relative_attention": false)").position_buckets,
            256);  // as in the published BERT
}

TEST(ModelConfig, ReportsAllProblemsAtOnce) {
  try {
    parse(
        R"("hidden_size": -1, "layer_norm_eps": "small", "vocab_size": 1.5, "pos_att_type": "x", "id2label": {"a": "a"})");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kConfig);
    EXPECT_EQ(error.problems().size(), 5u) << error.what();
    for (const Problem& problem : error.problems()) EXPECT_EQ(problem.where, "config.json");
    EXPECT_EQ(error.problems()[0].message, "hidden_size: expected an integer from 1 to 65536, got -1 (integer)");
    EXPECT_EQ(error.problems()[1].message, "layer_norm_eps: expected a number from 0, got \"small\" (string)");
    EXPECT_EQ(error.problems()[2].message, "vocab_size: expected an integer from 1 to 16777216, got 1.5 (number)");
  }
}

TEST(ModelConfig, NeedsAVocabularySize) {
  EXPECT_ERROR(parse_model_config(JsonObject{}, "c"), kConfig,
               "c: vocab_size: expected an integer, got nothing; the key is required");
  EXPECT_ERROR(parse_model_config(JsonArray{}, "c"), kConfig, "c: expected an object, got an array");
}

TEST(ModelConfig, ReadsLabelsByTheirIds) {
  const ModelConfig c = parse(R"("id2label": {"2": "c", "0": "a", "1": "b"}, "label2id": {"a": 0, "b": 1, "c": 2})");
  EXPECT_EQ(c.labels, (std::vector<std::string>{"a", "b", "c"}));
  EXPECT_TRUE(parse(R"("id2label": null, "label2id": null)").labels.empty());
  std::string eleven = "\"0\": \"l0\"";
  for (int i = 1; i < 11; ++i) eleven += ", \"" + std::to_string(i) + "\": \"l" + std::to_string(i) + "\"";
  EXPECT_EQ(parse("\"id2label\": {" + eleven + "}").labels[10], "l10");
}

TEST(ModelConfig, LabelsHaveTheKeysThatPythonTakesForIntegers) {
  EXPECT_EQ(parse(R"("id2label": {" 0": "a", "+1\n": "b", "02": "c", "0_3": "d"})").labels,
            (std::vector<std::string>{"a", "b", "c", "d"}));
  EXPECT_EQ(parse(R"("id2label": {"0": "a", "00": "b"})").labels, (std::vector<std::string>{"b"}));
  for (const std::string key : {"1.0", "x", "", " ", "_1", "1_", "1__0", "+-1", "-_1", "0x1", "1 0"}) {
    EXPECT_ERROR(parse("\"id2label\": {\"0\": \"a\", \"" + key + "\": \"b\"}"), kConfig,
                 "id2label: expected integers as keys, got \"" + key + "\"");
  }
}

TEST(ModelConfig, LabelsAreShownAsPythonShowsThem) {
  EXPECT_EQ(
      parse(R"("id2label": {"0": 5, "1": null, "2": true, "3": false, "4": 1.5, "5": "x", "6": [1], "7": NaN})").labels,
      (std::vector<std::string>{"5", "None", "True", "False", "1.5", "x", "[1]", "NaN"}));
}

TEST(ModelConfig, ClassesWithoutANameAreShownByTheirNumber) {
  const Warnings warnings;
  EXPECT_EQ(parse(R"("id2label": {"0": "a", "5": "b", "-1": "c"})").labels,
            (std::vector<std::string>{"a", "LABEL_1", "LABEL_2"}));
  EXPECT_EQ(
      warnings.text,
      "config.json: id2label: of 3 classes, those with ids 1, 2 have no name and are shown as LABEL_ID; there is no "
      "class with id -1, 5\n");
}

TEST(ModelConfig, RefusesLabelsThatAreNoObject) {
  EXPECT_TRUE(parse(R"("id2label": {})").labels.empty());
  EXPECT_ERROR(parse(R"("id2label": ["a"])"), kConfig, "id2label: expected an object, got an array");
  EXPECT_ERROR(parse(R"("label2id": 3)"), kConfig, "label2id: expected an object, got 3");
  JsonObject many;
  for (int i = 0; i <= 100000; ++i) many.emplace_back(std::to_string(i), "x");
  EXPECT_ERROR(parse_model_config(JsonObject{{"vocab_size", 9}, {"id2label", many}}, "c"), kConfig,
               "at most 100000 labels, got 100001");
}

TEST(ModelConfig, LabelsThatDisagreeGiveAWarningAndIdsWin) {
  for (const std::string other :
       {R"({"a": 1, "b": 0})", R"({"a": 0})", R"({"a": 0, "b": 2})", R"({"a": 0, "b": "1"})", R"({"a": 0, "b": -1})"}) {
    const Warnings warnings;
    EXPECT_EQ(parse(R"("id2label": {"0": "a", "1": "b"}, "label2id": )" + other).labels,
              (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(warnings.text, "config.json: label2id disagrees with id2label; id2label is used\n");
  }
  const Warnings warnings;
  parse(R"("id2label": {"0": "a", "1": "b"}, "label2id": {"b": 1, "a": 0})");
  EXPECT_EQ(warnings.text, "");
}

TEST(ModelConfig, CountsClassesWithoutNamesAndSaysWhereTheCountDisagrees) {
  EXPECT_EQ(parse(R"("num_labels": 5)").num_labels, 5);
  EXPECT_EQ(parse(R"("num_labels": 5, "id2label": null)").num_labels, 5);
  for (const std::string other : {"null", "\"x\"", "0", "-1", "2.5", "100001", "true"})
    EXPECT_EQ(parse("\"num_labels\": " + other).num_labels, 0) << other;
  const Warnings warnings;
  EXPECT_EQ(parse(R"("num_labels": 2, "id2label": {"0": "a", "1": "b"})").num_labels, 0);
  EXPECT_EQ(parse(R"("num_labels": 2, "id2label": {})").num_labels, 0);
  EXPECT_EQ(warnings.text, "");
  EXPECT_EQ(parse(R"("num_labels": 3, "id2label": {"0": "a", "1": "b"})").labels.size(), 2u);
  EXPECT_EQ(warnings.text, "config.json: num_labels: expected 2, as many as id2label has, got 3; id2label is used\n");
}

TEST(ModelConfig, ReadsTheProblemType) {
  EXPECT_EQ(parse(R"("problem_type": "regression")").problem_type, ProblemType::kRegression);
  EXPECT_EQ(parse(R"("problem_type": "single_label_classification")").problem_type, ProblemType::kSingleLabel);
  EXPECT_EQ(parse(R"("problem_type": "multi_label_classification")").problem_type, ProblemType::kMultiLabel);
  EXPECT_EQ(parse(R"("problem_type": null)").problem_type, ProblemType::kUnset);
  EXPECT_ERROR(parse(R"("problem_type": "")"), kConfig, "problem_type: expected \"regression\"");
  EXPECT_ERROR(parse(R"("problem_type": 1)"), kConfig, "problem_type: expected \"regression\"");
}

TEST(ModelConfig, ReadsArchitectures) {
  EXPECT_EQ(parse(R"("architectures": ["A", "B"])").architectures, (std::vector<std::string>{"A", "B"}));
  EXPECT_EQ(parse(R"("architectures": "A")").architectures, (std::vector<std::string>{"A"}));
  EXPECT_EQ(parse(R"("architectures": ["A", 1, null])").architectures, (std::vector<std::string>{"A"}));
  for (const std::string value : {"null", "5", "{}", "true"})
    EXPECT_TRUE(parse("\"architectures\": " + value).architectures.empty()) << value;
}

TEST(ModelConfig, APoolerActivationThatNobodyKnowsIsLeftToModelsThatPool) {
  for (const std::string value : {"null", "5", "\"prelu\"", "[]"}) {
    EXPECT_EQ(parse("\"pooler_hidden_act\": " + value + ", " + kV2).pooler_hidden_act, Activation::kOther) << value;
  }
}

TEST(ModelConfig, TheTwoRulesTakeOtherDefaults) {
  const Warnings warnings;
  const ModelConfig original = parse(R"("model_type": "deberta", "hidden_act": "relu")");
  EXPECT_TRUE(original.has_c2p);
  EXPECT_EQ(warnings.text,
            "config.json: pos_att_type is missing: c2p, as the original takes it; transformers takes no terms\n");
  const ModelConfig v1 = parse_hf(R"("model_type": "deberta")");
  EXPECT_EQ(v1.vocab_size, 50265);
  EXPECT_EQ(v1.hidden_size, 768);
  EXPECT_EQ(v1.num_attention_heads, 12);
  EXPECT_FALSE(v1.has_c2p || v1.has_p2c);
  EXPECT_EQ(v1.attention_terms(), 1);
  const ModelConfig v2 = parse_hf(R"("model_type": "deberta-v2")");
  EXPECT_EQ(v2.vocab_size, 128100);
  EXPECT_EQ(v2.hidden_size, 1536);
  EXPECT_EQ(v2.num_attention_heads, 24);
  EXPECT_EQ(v2.num_hidden_layers, 24);
  EXPECT_EQ(v2.intermediate_size, 6144);
  EXPECT_EQ(v2.attention_head_size, 64);
  EXPECT_EQ(v2.max_relative_positions, 512);
}

TEST(ModelConfig, TransformersRunsVersion1WithoutLayersAndVersion2WithoutABound) {
  const std::string v1 = R"("model_type": "deberta", "num_hidden_layers": )", v2 = R"("model_type": "deberta-v2", )";
  EXPECT_EQ(parse_hf(v1 + "-1").num_hidden_layers, 0);
  EXPECT_ERROR(parse_hf(v1 + "-1.5"), kConfig, "num_hidden_layers: expected an integer from 0 to 256, got -1.5");
  EXPECT_ERROR(parse_hf(v1 + "-1.0"), kConfig, "num_hidden_layers: expected an integer from 0 to 256, got -1.0");
  EXPECT_ERROR(parse_hf(v2 + R"("num_hidden_layers": false)"), kConfig, "expected an integer from 1 to 256, got 0");
  EXPECT_ERROR(parse(v1 + "-1"), kConfig, "num_hidden_layers: expected an integer from 0 to 256, got -1");

  const std::string relative = v2 + R"("relative_attention": true, "position_biased_input": false, )";
  const ModelConfig c = parse_hf(relative + R"("max_position_embeddings": 0, "position_buckets": 32)");
  EXPECT_EQ(c.max_relative_positions, 32);
  EXPECT_EQ(c.position_buckets, -1);
  EXPECT_EQ(parse_hf(relative + R"("max_position_embeddings": 0, "max_relative_positions": 64)").max_relative_positions,
            64);
  for (const char* keys : {R"("max_position_embeddings": 0)", R"("max_position_embeddings": -1)",
                           R"("max_position_embeddings": -0.0, "position_buckets": 32)"}) {
    EXPECT_ERROR(parse_hf(relative + keys), kConfig, "max_position_embeddings: expected an integer from 1");
    EXPECT_ERROR(parse_hf(v2 + keys), kConfig, "max_position_embeddings: expected an integer from 1");
  }
}

TEST(ModelConfig, HeadsAndLayersAreNotGuessedWhereTheRulesDisagree) {
  EXPECT_ERROR(
      parse(R"("model_type": "deberta-v2", "num_hidden_layers": 2)"), kConfig,
      "num_attention_heads: expected an integer, got nothing; the original defaults to 12 and transformers to 24");
  EXPECT_ERROR(parse(R"("model_type": "deberta-v2", "num_attention_heads": 2)"), kConfig,
               "num_hidden_layers: expected");
  EXPECT_ERROR(parse_hf(R"("vocab_size": 9, "num_hidden_layers": 2)"), kConfig, "num_attention_heads: expected");
  EXPECT_EQ(parse_hf(R"("vocab_size": 9, "num_hidden_layers": 2, "num_attention_heads": 12)").num_hidden_layers, 2);
  EXPECT_ERROR(parse_hf(R"("num_hidden_layers": 2, "num_attention_heads": 12)"), kConfig, "vocab_size: expected");
}

TEST(ModelConfig, TransformersTakesTheNamesOfTermsLetterByLetter) {
  struct Row {
    std::string value;
    bool has_c2p, has_p2c;
    int64_t terms_v1;
  };
  for (const Row& row : std::vector<Row>{{"null", false, false, 1},
                                         {"[]", false, false, 1},
                                         {R"("C2P | p2c")", true, true, 3},
                                         {R"("c 2p")", false, false, 2},
                                         {R"("")", false, false, 2},
                                         {R"("none")", false, false, 2},
                                         {R"(["C2P"])", false, false, 2},
                                         {R"(["c2p|p2c"])", false, false, 2},
                                         {R"(["c2p", "c2p", 5])", true, false, 4},
                                         {R"(["p2p", "p2c"])", false, true, 3},
                                         {R"({"c2p": 0})", true, false, 2}}) {
    const ModelConfig v1 = parse_hf(R"("model_type": "deberta", "pos_att_type": )" + row.value);
    EXPECT_EQ(v1.has_c2p, row.has_c2p) << row.value;
    EXPECT_EQ(v1.has_p2c, row.has_p2c) << row.value;
    EXPECT_EQ(v1.attention_terms(), row.terms_v1) << row.value;
    const ModelConfig v2 = parse_hf(R"("model_type": "deberta-v2", "pos_att_type": )" + row.value);
    EXPECT_EQ(v2.attention_terms(), 1 + row.has_c2p + row.has_p2c) << row.value;
  }
  for (const std::string value : {"5", "true", "1.5"})
    EXPECT_ERROR(parse_hf(R"("model_type": "deberta-v2", "pos_att_type": )" + value), kConfig,
                 "pos_att_type: expected");
}

TEST(ModelConfig, TransformersReadsFewerKeysOfVersion1) {
  const std::string keys =
      R"(, "position_buckets": 256, "conv_kernel_size": "x", "norm_rel_ebd": 5, "attention_head_size": null, "talking_head": true)";
  const ModelConfig v1 = parse_hf(R"("model_type": "deberta")" + keys);
  EXPECT_EQ(v1.position_buckets, -1);
  EXPECT_EQ(v1.conv_kernel_size, 0);
  EXPECT_FALSE(v1.has_rel_layer_norm);
  EXPECT_EQ(v1.attention_head_size, 64);
  EXPECT_TRUE(v1.talking_head);
  EXPECT_FALSE(parse_hf(R"("model_type": "deberta-v2", "talking_head": true)").talking_head);
  EXPECT_FALSE(parse_hf(R"("model_type": "deberta-v2", "norm_rel_ebd": "batch_norm")").has_rel_layer_norm);
  EXPECT_ERROR(parse_hf(R"("model_type": "deberta-v2", "norm_rel_ebd": null)"), kConfig, "norm_rel_ebd: expected");
}

TEST(ModelConfig, TransformersDoesNotReadTheOriginalsNames) {
  const ModelConfig c = parse_hf(
      R"("model_type": "deberta-v2", "hidden_act": "relu", "pooling": {"hidden_act": "tanh"}, "padding_idx": 3)");
  EXPECT_EQ(c.pooler_hidden_act, Activation::kGelu);
  EXPECT_EQ(c.pad_token_id, 0);
  EXPECT_EQ(parse_hf(R"("model_type": "deberta-v2", "pooling": 5)").pooler_hidden_act, Activation::kGelu);
}

TEST(ModelConfig, ThePositionsThatAreNotReadMayBeAnything) {
  const std::string relative =
      R"("model_type": "deberta-v2", "position_biased_input": false, "relative_attention": true, "max_position_embeddings": 0.5)";
  EXPECT_EQ(parse_hf(relative + R"(, "max_relative_positions": 24)").max_relative_positions, 24);
  EXPECT_ERROR(parse_hf(relative), kConfig, "max_position_embeddings: expected");
  EXPECT_ERROR(parse_hf(relative + R"(, "max_relative_positions": -1)"), kConfig, "max_position_embeddings: expected");
}

TEST(ModelConfig, MapsTheActivationOfSentenceTransformersByFixedNames) {
  for (const std::string key : {"activation_fn", "sbert_ce_default_activation_function"}) {
    EXPECT_EQ(parse("\"" + key + "\": \"torch.nn.modules.activation.Sigmoid\"").sentence_transformers_activation,
              "Sigmoid");
  }
  EXPECT_EQ(parse(R"("sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity", "version": "5"})")
                .sentence_transformers_activation,
            "Identity");
  EXPECT_EQ(parse(R"("sentence_transformers": {"activation_fn": "Tanh"})").sentence_transformers_activation, "Tanh");
  // torch has it, this library does not: score_function_of refuses it.
  EXPECT_EQ(parse(R"("activation_fn": "torch.nn.ReLU")").sentence_transformers_activation, "torch.nn.ReLU");
  EXPECT_EQ(parse(R"("sbert_ce_default_activation_function": "torch.nn.Tanh",
                      "sentence_transformers": {"activation_fn": "torch.nn.Softmax"})")
                .sentence_transformers_activation,
            "Softmax");
  for (const std::string value : {"\"os.system\"", "\"x.Sigmoid\"", "3", "{}"}) {
    const Warnings warnings;
    EXPECT_EQ(parse("\"activation_fn\": " + value).sentence_transformers_activation, "");
    EXPECT_NE(warnings.text.find("activation_fn: expected a torch class"), std::string::npos) << value;
  }
  const Warnings warnings;
  EXPECT_EQ(parse(R"("sentence_transformers": 3)").sentence_transformers_activation, "");
  EXPECT_EQ(warnings.text, "");
}

TEST(ModelConfig, KeepsUnknownKeysForWritingBack) {
  const std::string text =
      R"({"vocab_size": 100, "z_steps": 0, "new": {"deep": [1, 2.5, null, "x"]}, "torch_dtype": "float16"})";
  const ModelConfig config = parse_model_config(parse_json(text, "c"), "c");
  EXPECT_EQ(config.raw, text);
  const test::TemporaryFolder folder;
  test::write_text(folder.path("config.json"), raw_document(config).dump(2));
  EXPECT_EQ(load_model_config(folder.path("config.json")).raw, text);
}

TEST(ModelConfig, KeepsWhatOnlyPythonReadsForWritingBack) {
  const std::string text =
      R"({"vocab_size": 100, "a": 1000000000000000019884624838656, "b": [NaN, -Infinity, 1.5], "c": "\ud800"})";
  const ModelConfig config = parse_model_config(parse_python_json(text, "c"), "c");
  EXPECT_EQ(config.raw, text);
  EXPECT_EQ(raw_document(config).dump(0, JsonForm::kPython), text);
}

TEST(ModelConfig, ATrainingConfigurationOfTwoModelsGivesTheDiscriminator) {
  const ModelConfig c = parse_model_config(
      parse_json(
          R"({"embedding_sharing": "gdes", "discriminator": {"vocab_size": 9, "num_hidden_layers": 4}, "generator": {"vocab_size": 8}})",
          "c"),
      "c");
  EXPECT_EQ(c.vocab_size, 9);
  EXPECT_EQ(c.num_hidden_layers, 4);
  EXPECT_NE(raw_document(c).find("generator"), nullptr);
  EXPECT_ERROR(parse_model_config(parse_json(R"({"discriminator": {"vocab_size": 0}})", "c"), "c"), kConfig,
               "c: discriminator: vocab_size: expected");
  EXPECT_ERROR(parse_model_config(parse_json(R"({"discriminator": 3})", "c"), "c"), kConfig,
               "c: vocab_size: expected an integer, got nothing");
}

}  // namespace
}  // namespace deberta::model_config_test
