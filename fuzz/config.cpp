// config.json: whatever is accepted is within its ranges, and what is written back says the same.
#include "base/json.h"
#include "config/config_keys.h"
#include "config/model_config.h"
#include "fuzz.h"

namespace deberta::fuzz {
namespace {

void expect_same_value(const ConfigKey& key, const ModelConfig& a, const ModelConfig& b) {
  std::visit([&](const auto field) { FUZZ_REQUIRE(a.*field == b.*field); }, key.field);
}

void expect_sizes(const ModelConfig& config) {
  for (const ConfigKey& key : config_keys()) {
    const auto* integer = std::get_if<int64_t ModelConfig::*>(&key.field);
    if (integer != nullptr) FUZZ_REQUIRE(config.*(*integer) >= -1 && config.*(*integer) <= int64_t{1} << 24);
  }
  FUZZ_REQUIRE(config.vocab_size > 0 && config.hidden_size > 0 && config.num_attention_heads > 0);
  FUZZ_REQUIRE(config.conv_groups > 0 && config.hidden_size % config.conv_groups == 0);
  FUZZ_REQUIRE(config.span() > 0 && config.labels.size() <= 100000);
}

}  // namespace

void run(Bytes input) {
  const Json document = parse_json(to_text(input), "in");
  const std::string written = document.dump();
  FUZZ_REQUIRE(parse_json(written, "again", {.max_bytes = size_t{1} << 24}).dump() == written);
  FUZZ_REQUIRE(parse_json(document.dump(2), "again", {.max_bytes = size_t{1} << 24}).dump() == written);
  const ModelConfig config = parse_model_config(document, "in");
  expect_sizes(config);
  const ModelConfig again = parse_model_config(config.raw, "again");
  for (const ConfigKey& key : config_keys()) expect_same_value(key, config, again);
  FUZZ_REQUIRE(config.labels == again.labels && config.architectures == again.architectures);
}

}  // namespace deberta::fuzz
