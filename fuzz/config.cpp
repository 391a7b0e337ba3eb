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
    if (integer == nullptr) continue;
    // The largest distance is only divided by: it may be what a double holds.
    const bool is_distance = *integer == &ModelConfig::max_relative_positions;
    FUZZ_REQUIRE(config.*(*integer) >= -1 && config.*(*integer) <= int64_t{1} << (is_distance ? 53 : 30));
  }
  FUZZ_REQUIRE(config.vocab_size > 0 && config.hidden_size > 0 && config.num_attention_heads > 0);
  // Without a convolution nothing reads its groups.
  FUZZ_REQUIRE(config.conv_kernel_size <= 0 ||
               (config.conv_groups > 0 && config.hidden_size % config.conv_groups == 0));
  FUZZ_REQUIRE(config.span() > 0 && config.labels.size() <= 100000);
}

std::string to_python(const Json& document) {
  return document.dump(0, JsonForm::kPython);
}

// Strict JSON means the same to both parsers, which share no code.
void expect_strict_reads_alike(std::string_view text, const std::string& written) {
  std::string strict;
  try {
    strict = parse_json(text, "in").dump();
  } catch (const Error&) {
    return;
  }
  FUZZ_REQUIRE(strict == written);
}

void run_rules(const Json& document, ConfigRules rules) {
  try {
    const ModelConfig config = parse_model_config(document, "in", rules);
    expect_sizes(config);
    const ModelConfig again = parse_model_config(raw_document(config), "again", rules);
    for (const ConfigKey& key : config_keys()) expect_same_value(key, config, again);
    FUZZ_REQUIRE(config.labels == again.labels && config.architectures == again.architectures);
  } catch (const Error&) {
    return;  // the other rules may accept it
  }
}

}  // namespace

void run(Bytes input) {
  const JsonLimits limits{.max_bytes = size_t{1} << 24};
  const Json document = parse_python_json(to_text(input), "in");
  const std::string written = to_python(document);
  FUZZ_REQUIRE(to_python(parse_python_json(written, "again", limits)) == written);
  FUZZ_REQUIRE(to_python(parse_python_json(document.dump(2, JsonForm::kPython), "again", limits)) == written);
  expect_strict_reads_alike(to_text(input), written);
  run_rules(document, ConfigRules::kOriginal);
  run_rules(document, ConfigRules::kHf);
}

}  // namespace deberta::fuzz
