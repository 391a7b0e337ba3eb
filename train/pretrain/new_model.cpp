// A published size or a file, and overrides of single keys, which config.json's own reader then checks.
#include "train/pretrain/new_model.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/file.h"
#include "base/json.h"
#include "base/nearest.h"
#include "config/config_keys.h"
#include "config/model_config.h"
#include "config/published_sizes.h"
#include "deberta/error.h"

namespace deberta::train {
namespace {

JsonObject base_document(const std::string& name) {
  if (const PublishedSize* size = find_published_size(name)) return config_of(*size);
  if (is_regular_file(name)) {
    Json document = load_python_json(name);
    if (!document.is_object()) throw Error(ErrorCode::kConfig, name, "expected an object, got " + document.describe());
    return std::move(document.as_object());
  }
  throw Error(ErrorCode::kUsage,
              {{.message = "expected a config.json or one of " + list_published_sizes() + ", got \"" + name + "\"",
                .argument = "config_name"}});
}

// Keys of a configuration that have a form of their own.
constexpr std::array<std::string_view, 4> kOtherKeys = {"pos_att_type", "norm_rel_ebd", "model_type", "architectures"};

void check_key(const std::string& key) {
  std::vector<std::string_view> known(kOtherKeys.begin(), kOtherKeys.end());
  for (const ConfigKey& row : config_keys()) known.push_back(row.name);
  if (std::find(known.begin(), known.end(), key) != known.end()) return;
  const std::string near(nearest_match(key, known));
  throw Error(ErrorCode::kUsage,
              {{.message = "unknown key \"" + key + "\"" + (near.empty() ? "" : "; did you mean " + near + "?"),
                .argument = "config_overrides"}});
}

// A number, true, false or null as JSON has it; anything else is a string.
Json value_of(const std::string& text) {
  try {
    return parse_json(text, "");
  } catch (const Error&) {
    return Json(text);
  }
}

void set_member(JsonObject& document, std::string_view key, Json value) {
  for (auto& [name, old] : document) {
    if (name == key) {
      old = std::move(value);
      return;
    }
  }
  document.emplace_back(std::string(key), std::move(value));
}

void apply(const std::vector<std::string>& overrides, JsonObject& document) {
  std::vector<std::string> keys;
  for (const std::string& text : overrides) {
    const size_t equals = text.find('=');
    if (equals == std::string::npos)
      throw Error(ErrorCode::kUsage,
                  {{.message = "expected key=value, got \"" + text + "\"", .argument = "config_overrides"}});
    keys.push_back(text.substr(0, equals));
    check_key(keys.back());
    set_member(document, keys.back(), value_of(text.substr(equals + 1)));
  }
  const auto has = [&](std::string_view key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); };
  if (!has("hidden_size")) return;
  const Json whole(document);
  const std::optional<int64_t> hidden = whole.find("hidden_size")->whole_number();
  if (!hidden) return;  // refused when the configuration is read
  if (!has("num_attention_heads"))
    set_member(document, "num_attention_heads", std::max<int64_t>(1, *hidden / kPublishedHeadSize));
  if (!has("intermediate_size")) set_member(document, "intermediate_size", kPublishedInnerFactor * *hidden);
}

}  // namespace

ModelConfig new_config(const NewModel& request) {
  JsonObject document = base_document(request.name);
  set_member(document, "vocab_size", request.vocab_size);
  apply(request.overrides, document);
  const ModelConfig config = parse_model_config(Json(std::move(document)), "config of the new model");
  if (request.max_tokens > config.max_position_embeddings) {
    throw Error(
        ErrorCode::kUsage,
        {{.message = "expected at most max_position_embeddings = " + std::to_string(config.max_position_embeddings) +
                     ", got " + std::to_string(request.max_tokens),
          .argument = "max_tokens"}});
  }
  return config;
}

}  // namespace deberta::train
