// Every key with a wrong value of every kind: refused by name, or read as the format says, never anything else.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "config/config_keys.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/warnings.h"

namespace deberta::hostile_test {
namespace {

// A valid document to which any key can be added; its sizes let each change be judged by itself.
JsonObject right_document() {
  return {{"vocab_size", 100}, {"hidden_size", 768}, {"num_attention_heads", 12}, {"relative_attention", true}};
}

JsonObject with(const std::string& key, Json value) {
  JsonObject document = right_document();
  std::erase_if(document, [&](const JsonMember& member) { return member.first == key; });
  document.emplace_back(key, std::move(value));
  return document;
}

// "" when the document is accepted, else the message.
std::string verdict(const JsonObject& document) {
  try {
    parse_model_config(Json(document), "config.json");
    return "";
  } catch (const Error& error) {
    EXPECT_TRUE(error.code() == ErrorCode::kConfig || error.code() == ErrorCode::kUnsupported) << error.what();
    return error.what();
  }
}

void expect_refused(const std::string& key, Json value) {
  const std::string shown = value.is_number() ? "a number" : value.dump();
  EXPECT_TRUE(verdict(with(key, std::move(value))).starts_with("config.json: " + key + ": expected "))
      << key << " " << shown;
}

bool is_integer_key(const ConfigKey& key) {
  return std::holds_alternative<int64_t ModelConfig::*>(key.field);
}
bool is_number_key(const ConfigKey& key) {
  return is_integer_key(key) || std::holds_alternative<double ModelConfig::*>(key.field);
}
bool is_flag(const ConfigKey& key) {
  return std::holds_alternative<bool ModelConfig::*>(key.field);
}

// Keys that inference does not read, either for this document or for any.
const std::set<std::string> kUnread = {"hidden_dropout_prob", "attention_probs_dropout_prob",
                                       "initializer_range",   "pad_token_id",
                                       "conv_groups",         "conv_act",
                                       "pooler_hidden_size",  "pooler_dropout",
                                       "pooler_hidden_act",   "cls_dropout",
                                       "feed_forward_dropout"};

TEST(HostileConfig, EveryPlainKeyThatIsReadRefusesOtherTypes) {
  size_t checked = 0;
  for (const ConfigKey& key : config_keys()) {
    const std::string name(key.name);
    if (is_flag(key) || kUnread.contains(name)) continue;
    ++checked;
    expect_refused(name, JsonArray{});
    expect_refused(name, JsonObject{});
    expect_refused(name, "256");
    expect_refused(name, nullptr);
    if (!is_number_key(key)) {
      expect_refused(name, true);
      for (const int64_t value : {int64_t{-1}, int64_t{0}, int64_t{1}, std::numeric_limits<int64_t>::max()})
        expect_refused(name, value);
    }
    if (is_integer_key(key)) expect_refused(name, 1.5);
    if (is_integer_key(key)) expect_refused(name, JsonBigInteger{"1000000000000000000000000000000"});
    if (is_integer_key(key)) expect_refused(name, std::numeric_limits<double>::infinity());
  }
  EXPECT_EQ(checked, 15u);
}

TEST(HostileConfig, AWrongValueOfAKeyThatIsNotReadIsPassedOver) {
  const ModelConfig right = parse_model_config(Json(right_document()), "config.json");
  const std::vector<Json> values = {nullptr,
                                    "text",
                                    true,
                                    -1,
                                    1.5,
                                    int64_t{1} << 40,
                                    JsonBigInteger{"1000000000000000000000"},
                                    JsonArray{1},
                                    JsonObject{{"a", 1}},
                                    std::numeric_limits<double>::quiet_NaN()};
  for (const std::string& name : kUnread) {
    for (const Json& value : values) EXPECT_EQ(verdict(with(name, value)), "") << name << " " << value.describe();
  }
  for (const Json& value : values) {
    for (const std::string name : {"torch_dtype", "unknown", "architectures", "use_cache", "num_labels"})
      EXPECT_EQ(verdict(with(name, value)), "") << name << " " << value.describe();
  }
  for (const Json& value : values) {
    JsonObject document = with("position_buckets", value);
    std::erase_if(document, [](const JsonMember& member) { return member.first == "relative_attention"; });
    EXPECT_EQ(verdict(document), "") << value.describe();
  }
  EXPECT_EQ(parse_model_config(with("pad_token_id", -1), "c").pad_token_id, right.pad_token_id);
}

TEST(HostileConfig, AFlagIsWhatPythonCallsTrue) {
  const std::vector<std::pair<Json, bool>> table = {{true, true},
                                                    {false, false},
                                                    {nullptr, false},
                                                    {"false", true},
                                                    {"", false},
                                                    {0, false},
                                                    {-1, true},
                                                    {0.0, false},
                                                    {0.5, true},
                                                    {JsonArray{}, false},
                                                    {JsonArray{0}, true},
                                                    {JsonObject{}, false},
                                                    {JsonObject{{"a", 0}}, true},
                                                    {std::numeric_limits<double>::quiet_NaN(), true},
                                                    {JsonBigInteger{"100000000000000000000"}, true}};
  for (const ConfigKey& key : config_keys()) {
    if (!is_flag(key)) continue;
    const auto field = std::get<bool ModelConfig::*>(key.field);
    for (const auto& [value, expected] : table)
      EXPECT_EQ(parse_model_config(with(std::string(key.name), value), "c").*field, expected)
          << key.name << " " << value.describe();
  }
}

TEST(HostileConfig, WholeNumbersAreIntegersAndTruthIsOne) {
  EXPECT_EQ(parse_model_config(with("hidden_size", 768.0), "c").hidden_size, 768);
  EXPECT_EQ(parse_model_config(with("num_hidden_layers", true), "c").num_hidden_layers, 1);
  EXPECT_EQ(parse_model_config(with("num_hidden_layers", false), "c").num_hidden_layers, 0);
  EXPECT_EQ(parse_model_config(with("layer_norm_eps", true), "c").layer_norm_eps, 1);
}

// Python tests `value > 0`; for max_relative_positions it tests `value < 1`.
TEST(HostileConfig, NumbersThatMeanNone) {
  const double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const Json& value : {Json(0), Json(-1), Json(-3.5), Json(false), Json(nan), Json(-infinity), Json(0.0),
                            Json(JsonBigInteger{"-100000000000000000000"})}) {
    EXPECT_EQ(parse_model_config(with("position_buckets", value), "c").position_buckets, -1) << value.describe();
    EXPECT_EQ(parse_model_config(with("type_vocab_size", value), "c").type_vocab_size, 0) << value.describe();
    EXPECT_EQ(parse_model_config(with("conv_kernel_size", value), "c").conv_kernel_size, 0) << value.describe();
  }
  for (const Json& value : {Json(0), Json(-1), Json(0.5), Json(false), Json(-infinity)})
    EXPECT_EQ(parse_model_config(with("max_relative_positions", value), "c").max_relative_positions, 512);
  expect_refused("max_relative_positions", nan);
  expect_refused("position_buckets", 0.5);
  expect_refused("position_buckets", 1);
}

TEST(HostileConfig, NullCountsAsAbsentWhereProgramsWriteIt) {
  for (const std::string key : {"pad_token_id", "cls_dropout", "problem_type", "id2label", "label2id", "architectures",
                                "pos_att_type", "activation_fn", "model_type", "pooler_hidden_act"}) {
    EXPECT_EQ(verdict(with(key, nullptr)), "") << key;
  }
}

struct Range {
  int64_t low, high;  // smallest and largest integer that the key takes, apart from those that mean none
};

// The ranges of the design, repeated by hand.
const std::map<std::string, Range> kRanges = {
    {"mask_decoder_passes", {0, 3}},
    {"hidden_size", {1, 65536}},
    {"num_hidden_layers", {0, 256}},
    {"num_attention_heads", {1, 512}},
    {"attention_head_size", {1, 65536}},
    {"intermediate_size", {1, 1 << 20}},
    {"vocab_size", {1, 1 << 24}},
    {"pad_token_id", {0, (1 << 24) - 1}},
    {"max_position_embeddings", {1, 1 << 30}},
    {"type_vocab_size", {0, 1024}},
    {"embedding_size", {1, 65536}},
    {"max_relative_positions", {1, (int64_t{1} << 53) - 1}},
    {"position_buckets", {2, 65536}},
    {"conv_kernel_size", {0, 99}},
    {"conv_groups", {1, 65536}},
    {"pooler_hidden_size", {1, 65536}},
};

TEST(HostileConfig, IntegersHaveTheirRanges) {
  size_t checked = 0;
  for (const ConfigKey& key : config_keys()) {
    if (!is_integer_key(key)) continue;
    const std::string name(key.name);
    ASSERT_TRUE(kRanges.contains(name)) << name;
    const Range range = kRanges.at(name);
    ModelConfig config;
    EXPECT_TRUE(read_config_value(key, range.low, ConfigRules::kOriginal, config)) << name;
    EXPECT_TRUE(read_config_value(key, range.high, ConfigRules::kOriginal, config)) << name;
    for (const int64_t value :
         {range.low - 1, range.high + 1, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
      if (key.is_absent != nullptr && key.is_absent(value, config, ConfigRules::kOriginal)) continue;
      EXPECT_FALSE(read_config_value(key, value, ConfigRules::kOriginal, config)) << name << " " << value;
      if (!kUnread.contains(name)) expect_refused(name, value);
    }
    ++checked;
  }
  EXPECT_EQ(checked, kRanges.size());
}

TEST(HostileConfig, TheEpsilonIsANumberFromZero) {
  for (const double value : {0.0, 1e-12, 1e-2, 0.5, std::numeric_limits<double>::infinity()})
    EXPECT_EQ(verdict(with("layer_norm_eps", value)), "") << value;
  EXPECT_EQ(verdict(with("layer_norm_eps", JsonBigInteger{"1000000000000000000000000000000"})), "");
  for (const double value : {-1e-7, -1.0, std::numeric_limits<double>::quiet_NaN()})
    expect_refused("layer_norm_eps", value);
  expect_refused("layer_norm_eps", JsonBigInteger{"1" + std::string(400, '0')});
}

// The v1 code of transformers adds it to a tensor as is; torch accepts no integer beyond 64 bits there.
TEST(ModelConfig, TheEpsilonOfVersion1IsOf64Bits) {
  const auto read = [](const std::string& epsilon) {
    const std::string text =
        R"({"model_type": "deberta", "vocab_size": 100, "pos_att_type": [], "layer_norm_eps": )" + epsilon + "}";
    return parse_model_config(parse_python_json(text, "config.json"), "config.json").layer_norm_eps;
  };
  EXPECT_EQ(read("9223372036854775808"), 0x1p63);
  EXPECT_EQ(read("1e30"), 1e30);
  for (const char* epsilon : {"18446744073709551616", "1000000000000000000000000000000"})
    EXPECT_ERROR(read(epsilon), kConfig,
                 "layer_norm_eps: expected a float, or an integer below 1.8446744073709552e+19, got ");
}

TEST(HostileConfig, KeysWithAFormOfTheirOwnRefuseOtherTypes) {
  const std::map<std::string, std::set<std::string>> accepted = {
      {"model_type", {"null"}},     {"pos_att_type", {"[]", "null"}}, {"norm_rel_ebd", {}}, {"problem_type", {"null"}},
      {"id2label", {"null", "{}"}}, {"label2id", {"{}", "null"}},     {"pooling", {"{}"}},
  };
  const std::vector<Json> values = {-1, 0, 1 << 30, 1.5, "256", JsonArray{}, JsonObject{}, nullptr, true};
  for (const auto& [key, names] : accepted) {
    for (const Json& value : values) {
      const std::string message = verdict(with(key, value));
      if (names.contains(value.dump())) {
        EXPECT_EQ(message, "") << key;
      } else {
        EXPECT_TRUE(message.starts_with("config.json: " + key + ": expected "))
            << key << " " << value.dump() << ": " << message;
      }
    }
  }
}

TEST(HostileConfig, TextThatPythonDoesNotReadIsRefused) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("config.json");
  for (const std::string value : {"01", "'a'", "[1,]", "\"\xFF\"", "// 1\n1", "nan"}) {
    test::write_text(path, "{\"vocab_size\": 100, \"hidden_size\": " + value + "}");
    EXPECT_ERROR(load_model_config(path), kJson, "config.json");
  }
  test::write_text(path, "\xEF\xBB\xBF{\"vocab_size\": 100}");
  EXPECT_ERROR(load_model_config(path), kJson, "byte order mark");
  test::write_text(path, std::string(1 << 20, ' ') + "{}");
  EXPECT_ERROR(load_model_config(path), kTooLarge, "at most 1048576 bytes");
  test::write_text(path, "{\"a\":" + std::string(16, '[') + std::string(16, ']') + "}");
  EXPECT_ERROR(load_model_config(path), kJson, "at most 16 nested levels");
  EXPECT_ERROR(load_model_config(folder.path("absent.json")), kFileNotFound, "absent.json");
}

TEST(HostileConfig, NumbersOfPythonAreReadAndJudgedWhereTheyAreUsed) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("config.json");
  for (const std::string value : {"1e309", "-1e309", "NaN", "Infinity", "9223372036854775808", "1e400"}) {
    test::write_text(path, "{\"vocab_size\": 100, \"hidden_size\": " + value + "}");
    EXPECT_ERROR(load_model_config(path), kConfig,
                 "config.json: hidden_size: expected an integer from 1 to 65536, got");
    test::write_text(path, "{\"vocab_size\": 100, \"anything\": [" + value + "]}");
    const ModelConfig config = load_model_config(path);
    EXPECT_EQ(raw_document(config).find("anything")->as_array()[0].is_number(), true);
  }
}

TEST(HostileConfig, OfAKeyTwiceTheLastCountsWithOneWarning) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("config.json");
  test::write_text(path, R"({"vocab_size": "x", "vocab_size": 100, "num_hidden_layers": 3, "num_hidden_layers": 2})");
  const test::Warnings warnings;
  const ModelConfig config = load_model_config(path);
  EXPECT_EQ(config.vocab_size, 100);
  EXPECT_EQ(config.num_hidden_layers, 2);
  EXPECT_EQ(warnings.text, path +
                               ": keys \"num_hidden_layers\", \"vocab_size\" appear more than once; their last values "
                               "count, as in Python\n");
}

}  // namespace
}  // namespace deberta::hostile_test
