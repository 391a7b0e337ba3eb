// Reads the keys of peft that matter to a merge, and refuses any that would compute something else.
#include "checkpoint/adapter_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "base/file.h"
#include "base/json.h"
#include "base/sha256.h"
#include "deberta/error.h"

namespace deberta {
namespace {

// Settings that make something other than W + scale B A of the matrices. Null, false and empty: not in use.
struct Unsupported {
  std::string_view key, reason;
};
constexpr std::array kUnsupported = {
    Unsupported{"use_dora", "DoRA"},
    Unsupported{"layer_replication", "layers used more than once"},
    Unsupported{"alora_invocation_tokens", "activated LoRA, which changes only some tokens"},
    Unsupported{"target_parameters", "matrices that belong to no module"},
    Unsupported{"trainable_token_indices", "single rows of the embedding"},
    Unsupported{"use_qalora", "QALoRA"},
    Unsupported{"use_bdlora", "block-diagonal LoRA"},
    Unsupported{"velora_config", "VeLoRA"},
    Unsupported{"monteclora_config", "MonteCLoRA"},
    Unsupported{"arrow_config", "Arrow"},
    Unsupported{"kasa_config", "KaSA"},
};
// Initial values that leave the model's own weights as they are; pissa, olora, corda, loftq and others change them.
constexpr std::array<std::string_view, 3> kInits = {"gaussian", "eva", "orthogonal"};

// Does the name end with `pattern` (letters, digits, _, and . for any character), as a whole or after a dot?
bool ends_with_pattern(std::string_view name, std::string_view pattern) {
  if (pattern.size() > name.size()) return false;
  const std::string_view end = name.substr(name.size() - pattern.size());
  const bool is_same =
      std::equal(end.begin(), end.end(), pattern.begin(), [](char a, char b) { return b == '.' || a == b; });
  return is_same && (end.size() == name.size() || name[name.size() - end.size() - 1] == '.');
}

bool is_plain_pattern(std::string_view pattern) {
  const auto is_plain = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
  };
  return !pattern.empty() && std::all_of(pattern.begin(), pattern.end(), is_plain);
}

struct SettingsReader {
  const std::string& where;
  const Json& document;
  AdapterSettings settings = {};
  std::vector<Problem> unsupported = {};

  [[noreturn]] void refuse(std::string_view key, std::string_view expected) const {
    const Json* got = document.find(key);
    throw Error(ErrorCode::kConfig, where,
                fmt::format("{}: expected {}, got {}", key, expected, got == nullptr ? "nothing" : got->describe()));
  }
  std::string text(std::string_view key) const {
    const Json* value = document.find(key);
    if (value == nullptr || value->is_null()) return {};
    if (!value->is_string()) refuse(key, "a string");
    return value->as_string();
  }

  void read_alpha() {
    const Json* alpha = document.find("lora_alpha");
    if (alpha == nullptr || !alpha->is_number() || !std::isfinite(alpha->as_number())) refuse("lora_alpha", "a number");
    settings.alpha = alpha->as_number();
    const Json* stable = document.find("use_rslora");
    settings.is_rank_stabilised = stable != nullptr && stable->is_truthy();
  }

  void read_alpha_pattern() {
    const Json* patterns = document.find("alpha_pattern");
    if (patterns == nullptr || patterns->is_null()) return;
    if (!patterns->is_object()) refuse("alpha_pattern", "an object of numbers");
    for (const auto& [pattern, alpha] : patterns->as_object()) {
      if (!alpha.is_number() || !std::isfinite(alpha.as_number())) refuse("alpha_pattern", "an object of numbers");
      if (!is_plain_pattern(pattern))
        unsupported.push_back({where, fmt::format("alpha_pattern: {} is a regular expression", quote_json(pattern))});
      settings.alpha_pattern.emplace_back(pattern, alpha.as_number());
    }
  }

  void find_unsupported() {
    for (const Unsupported& row : kUnsupported) {
      const Json* value = document.find(row.key);
      if (value != nullptr && value->is_truthy())
        unsupported.push_back({where, fmt::format("{}: {}", row.key, row.reason)});
    }
    const Json* init = document.find("init_lora_weights");
    if (init == nullptr || !init->is_string()) return;
    if (std::find(kInits.begin(), kInits.end(), init->as_string()) == kInits.end())
      unsupported.push_back(
          {where, fmt::format("init_lora_weights: {} changes the weights of the model itself; merge it with peft",
                              init->describe())});
  }
};

}  // namespace

std::optional<AdapterBase> load_adapter_base(const std::string& folder) {
  const std::string path = folder + "/" + kAdapterBaseName;
  if (!is_regular_file(path)) return std::nullopt;
  const Json document = load_json(path);
  const auto text = [&](std::string_view key) {
    const Json* value = document.find(key);
    if (value == nullptr || !value->is_string())
      throw Error(ErrorCode::kConfig, path, fmt::format("{}: expected a string", key));
    return value->as_string();
  };
  return AdapterBase{text("name"), text("sha256")};
}

std::string hash_of_base(std::vector<TensorView> matrices) {
  std::ranges::sort(matrices, {}, &TensorView::name);
  Sha256 hash;
  for (const TensorView& matrix : matrices) {
    hash.update(to_bytes(matrix.name + "\n"));
    hash.update(std::as_bytes(std::span<const float>(to_fp32(matrix))));
  }
  return hash.finish();
}

double AdapterSettings::scale(std::string_view module, size_t rank) const {
  double own = alpha;
  for (const auto& [pattern, value] : alpha_pattern) {
    if (!ends_with_pattern(module, pattern)) continue;
    own = value;
    break;
  }
  const auto r = static_cast<double>(rank);
  return own / (is_rank_stabilised ? std::sqrt(r) : r);
}

AdapterSettings parse_adapter_settings(std::string_view text, const std::string& where) {
  const Json document = parse_python_json(text, where);
  if (!document.is_object()) throw Error(ErrorCode::kConfig, where, "expected an object, got " + document.describe());
  SettingsReader reader{.where = where, .document = document};
  const std::string type = reader.text("peft_type");
  if (type != "LORA")
    throw Error(ErrorCode::kFolder, where,
                fmt::format("expected a peft LORA adapter, got {}; merge it with its own program",
                            type.empty() ? "one without peft_type" : type));
  reader.settings.base_model = reader.text("base_model_name_or_path");
  reader.settings.task_type = reader.text("task_type");
  reader.read_alpha();
  reader.read_alpha_pattern();
  reader.find_unsupported();
  if (!reader.unsupported.empty()) throw Error(ErrorCode::kUnsupported, std::move(reader.unsupported));
  return std::move(reader.settings);
}

AdapterSettings load_adapter_settings(const std::string& folder) {
  constexpr uint64_t kMaxBytes = uint64_t{1} << 20;
  const std::string path = folder + "/adapter_config.json";
  return parse_adapter_settings(read_file(path, kMaxBytes), path);
}

}  // namespace deberta
