// Every key with a wrong value of every kind: refused by its name, or read as the format says, never anything else.
#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <set>

#include "config/config_keys.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta {
namespace {

// A right document in which each key has a place; all widths allow any single change to be judged by itself.
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

TEST(HostileConfig, EveryPlainKeyRefusesOtherTypes) {
  for (const ConfigKey& key : config_keys()) {
    const std::string name(key.name);
    expect_refused(name, JsonArray{});
    expect_refused(name, JsonObject{});
    expect_refused(name, "256");
    if (!key.is_nullable) expect_refused(name, nullptr);
    if (!is_flag(key)) expect_refused(name, true);
    if (!is_number_key(key)) {
      for (const int64_t value : {int64_t{-1}, int64_t{0}, int64_t{1}, std::numeric_limits<int64_t>::max()})
        expect_refused(name, value);
    }
    if (is_integer_key(key)) expect_refused(name, 1.5);
    if (is_integer_key(key)) expect_refused(name, 12.0);
  }
}

TEST(HostileConfig, NullCountsAsAbsentWhereProgramsWriteIt) {
  for (const std::string key : {"pad_token_id", "cls_dropout", "problem_type", "id2label", "label2id", "architectures",
                                "pos_att_type", "activation_fn"}) {
    EXPECT_EQ(verdict(with(key, nullptr)), "") << key;
  }
}

struct Range {
  int64_t low, high;    // smallest and largest integer that the key takes
  int64_t special = 0;  // and one more, when not 0
};

// The ranges of the design, written again by hand.
const std::map<std::string, Range> kRanges = {
    {"hidden_size", {1, 65536}},
    {"num_hidden_layers", {0, 256}},
    {"num_attention_heads", {1, 512}},
    {"attention_head_size", {1, 65536}},
    {"intermediate_size", {1, 1 << 20}},
    {"vocab_size", {1, 1 << 24}},
    {"pad_token_id", {0, (1 << 24) - 1}},
    {"max_position_embeddings", {1, 1 << 20}},
    {"type_vocab_size", {0, 1024}},
    {"embedding_size", {1, 65536}},
    {"max_relative_positions", {-(1 << 20), 1 << 20}},
    {"position_buckets", {2, 65536, -1}},
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
    EXPECT_TRUE(read_config_value(key, range.low, config)) << name;
    EXPECT_TRUE(read_config_value(key, range.high, config)) << name;
    for (const int64_t value :
         {range.low - 1, range.high + 1, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
      if (range.special != 0 && value == range.special) continue;
      EXPECT_FALSE(read_config_value(key, value, config)) << name << " " << value;
      expect_refused(name, value);
    }
    if (range.special != 0) {
      EXPECT_TRUE(read_config_value(key, range.special, config)) << name;
    }
    ++checked;
  }
  EXPECT_EQ(checked, kRanges.size());
}

TEST(HostileConfig, NumbersHaveTheirRanges) {
  const double huge = std::numeric_limits<double>::max();
  const double tiny = std::numeric_limits<double>::denorm_min();
  for (const std::string key :
       {"hidden_dropout_prob", "attention_probs_dropout_prob", "pooler_dropout", "cls_dropout"}) {
    EXPECT_EQ(verdict(with(key, 0)), "");
    EXPECT_EQ(verdict(with(key, 0.999)), "");
    for (const double value : {-1.0, -tiny, 1.0, 1.5, huge, -huge}) expect_refused(key, value);
  }
  EXPECT_EQ(verdict(with("layer_norm_eps", 1e-2)), "");
  EXPECT_EQ(verdict(with("layer_norm_eps", 1e-12)), "");
  for (const double value : {0.0, -1e-7, 0.0100001, 1.0, huge}) expect_refused("layer_norm_eps", value);
  EXPECT_EQ(verdict(with("initializer_range", 0)), "");
  for (const double value : {-1.0, 10.1, huge}) expect_refused("initializer_range", value);
}

TEST(HostileConfig, KeysWithAFormOfTheirOwnRefuseOtherTypes) {
  const std::map<std::string, std::set<std::string>> accepted = {
      {"model_type", {}},
      {"pos_att_type", {"[]", "null"}},
      {"norm_rel_ebd", {}},
      {"problem_type", {"null"}},
      {"architectures", {"[]", "null"}},
      {"id2label", {"null"}},
      {"label2id", {"{}", "null"}},
      {"pooling", {"{}"}},
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

TEST(HostileConfig, TextThatIsNotStrictJsonIsRefused) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("config.json");
  for (const std::string value :
       {"1e309", "-1e309", "NaN", "Infinity", "01", "9223372036854775808", "'a'", "[1,]", "\"\xFF\"", "// 1\n1"}) {
    test::write_text(path, "{\"vocab_size\": 100, \"hidden_size\": " + value + "}");
    EXPECT_ERROR(load_model_config(path), kJson, "config.json");
  }
  test::write_text(path, R"({"vocab_size": 100, "vocab_size": 100})");
  EXPECT_ERROR(load_model_config(path), kJson, "\"vocab_size\" appears twice");
  test::write_text(path, std::string(1 << 20, ' ') + "{}");
  EXPECT_ERROR(load_model_config(path), kTooLarge, "at most 1048576 bytes");
  test::write_text(path, "{\"a\":" + std::string(16, '[') + std::string(16, ']') + "}");
  EXPECT_ERROR(load_model_config(path), kJson, "at most 16 nested levels");
  EXPECT_ERROR(load_model_config(folder.path("absent.json")), kFileNotFound, "absent.json");
}

}  // namespace
}  // namespace deberta
