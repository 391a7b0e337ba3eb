// modules.json names Python classes; those that are known here are known by the last part of their names, and none is
// ever looked up.
#include "heads/sentence_modules.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "checkpoint/file_names.h"
#include "deberta/error.h"
#include "tasks/pooling.h"

namespace deberta {
namespace {

constexpr int64_t kMaxColumns = 65536;
constexpr int64_t kMaxTokens = 1 << 20;
constexpr size_t kMaxModules = 32;

struct Module {
  std::string kind;    // "Pooling", the last part of the class's name
  std::string folder;  // in the folder of the model; empty: that folder itself
};

[[noreturn]] void refuse(const std::string& where, std::string_view key, std::string_view expected, const Json* got) {
  throw Error(ErrorCode::kConfig, where,
              fmt::format("{}: expected {}, got {}", key, expected, got == nullptr ? "nothing" : got->describe()));
}

// One JSON object with the keys of a module.
class Settings {
 public:
  explicit Settings(std::string path) : path_(std::move(path)), document_(load_json(path_)) {
    if (!document_.is_object()) refuse(path_, "document", "an object", &document_);
  }
  bool flag(std::string_view key, bool fallback) const {
    const Json* value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_bool()) refuse(path_, key, "true or false", value);
    return value->as_bool();
  }
  std::optional<int64_t> number(std::string_view key, int64_t low, int64_t high) const {
    const Json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_integer() || value->as_integer() < low || value->as_integer() > high)
      refuse(path_, key, fmt::format("an integer from {} to {}", low, high), value);
    return value->as_integer();
  }
  std::optional<std::string> text(std::string_view key) const {
    const Json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) refuse(path_, key, "a text", value);
    return value->as_string();
  }
  const Json* find(std::string_view key) const {
    const Json* value = document_.find(key);
    return value != nullptr && value->is_null() ? nullptr : value;
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  Json document_;
};

std::vector<Module> read_modules(const std::string& path) {
  const std::string where = path + "/modules.json";
  std::vector<Module> modules;
  if (!is_regular_file(where)) return modules;
  const Json document = load_json(where);
  if (!document.is_array() || document.as_array().size() > kMaxModules)
    refuse(where, "document", fmt::format("a list of at most {} modules", kMaxModules), &document);
  for (const Json& entry : document.as_array()) {
    const Json* type = entry.find("type");
    const Json* folder = entry.find("path");
    if (type == nullptr || !type->is_string()) refuse(where, "type", "the name of a module", type);
    if (folder == nullptr || !folder->is_string()) refuse(where, "path", "a folder's name, or nothing", folder);
    const std::string& name = folder->as_string();
    if (!name.empty() && !is_plain_file_name(name)) refuse(where, "path", "a plain folder name", folder);
    const std::string& kind = type->as_string();
    modules.push_back({kind.substr(kind.rfind('.') + 1), name});
  }
  return modules;
}

std::string folder_of(const std::string& path, const Module& module) {
  return module.folder.empty() ? path : fmt::format("{}/{}", path, module.folder);
}

// ---- pooling

struct PoolingRow {
  std::string_view key;   // in 1_Pooling/config.json
  std::string_view name;  // of newer files: pooling_mode
  std::optional<Pooling> pooling;
};
// In the order in which their vectors are joined.
constexpr std::array kPoolings = {
    PoolingRow{"pooling_mode_cls_token", "cls", Pooling::kCls},
    PoolingRow{"pooling_mode_max_tokens", "max", Pooling::kMax},
    PoolingRow{"pooling_mode_mean_tokens", "mean", Pooling::kMean},
    PoolingRow{"pooling_mode_mean_sqrt_len_tokens", "mean_sqrt_len_tokens", Pooling::kMeanSqrt},
    PoolingRow{"pooling_mode_weightedmean_tokens", "weightedmean", std::nullopt},
    PoolingRow{"pooling_mode_lasttoken", "lasttoken", std::nullopt},
};

void refuse_module(SentenceModules& result, std::string reason) {
  if (result.refusal.empty()) result.refusal = std::move(reason) + "; choose another way with --pooling";
}

void read_pooling(const std::string& folder, int64_t columns, SentenceModules& result) {
  const Settings settings(folder + "/config.json");
  const auto width = settings.number("word_embedding_dimension", 1, kMaxColumns);
  if (width && *width != columns) {
    refuse(settings.path(), "word_embedding_dimension", fmt::format("{}, the hidden_size", columns),
           settings.find("word_embedding_dimension"));
  }
  const auto mode = settings.text("pooling_mode");
  size_t found = 0;
  for (const PoolingRow& row : kPoolings) {
    if (mode ? *mode != row.name : !settings.flag(row.key, false)) continue;
    ++found;
    if (row.pooling) {
      result.poolings.push_back(*row.pooling);
    } else {
      refuse_module(result, fmt::format("{}: {} is for models that read from left to right, and not computed here",
                                        settings.path(), row.key));
    }
  }
  if (found == 0)
    refuse(settings.path(), "pooling_mode", "a pooling that is known and true", settings.find("pooling_mode"));
}

// ---- dense layers

struct ActivationRow {
  std::string_view name;  // of the class, after "torch.nn."
  Activation activation;
};
constexpr std::array kActivations = {
    ActivationRow{"Identity", Activation::kLinear}, ActivationRow{"Tanh", Activation::kTanh},
    ActivationRow{"ReLU", Activation::kRelu},       ActivationRow{"GELU", Activation::kGelu},
    ActivationRow{"Sigmoid", Activation::kSigmoid}, ActivationRow{"SiLU", Activation::kSwish},
};

std::optional<Activation> find_activation(std::string_view path) {
  if (!path.starts_with("torch.nn.")) return std::nullopt;
  path.remove_prefix(path.rfind('.') + 1);
  for (const ActivationRow& row : kActivations) {
    if (row.name == path) return row.activation;
  }
  return std::nullopt;
}

const TensorView& find_tensor(const Checkpoint& checkpoint, const std::string& name, const Shape& shape) {
  const TensorView* tensor = checkpoint.find(name);
  const std::string where = checkpoint.paths().front();
  if (tensor == nullptr) throw Error(ErrorCode::kTensors, where, fmt::format("1 tensor missing: {}", name));
  if (tensor->shape == shape) return *tensor;
  throw Error(ErrorCode::kTensors, where,
              fmt::format("tensor {}: expected shape [{}], got [{}]", name, fmt::join(shape, ", "),
                          fmt::join(tensor->shape, ", ")));
}

void read_dense(const std::string& folder, int64_t columns, const OpenOptions& options, SentenceModules& result) {
  const Settings settings(folder + "/config.json");
  const auto inputs = settings.number("in_features", 1, kMaxColumns);
  const auto outputs = settings.number("out_features", 1, kMaxColumns);
  if (!inputs || *inputs != columns)
    refuse(settings.path(), "in_features", fmt::format("{}, what the module before gives", columns),
           settings.find("in_features"));
  if (!outputs) refuse(settings.path(), "out_features", "an integer", nullptr);
  const std::optional<std::string> name = settings.text("activation_function");  // of old files: always Tanh
  const auto activation = name ? find_activation(*name) : Activation::kTanh;
  if (!activation)
    return refuse_module(result,
                         fmt::format("{}: activation_function {} is not computed here", settings.path(), *name));
  for (const char* key : {"module_input_name", "module_output_name"}) {
    const std::optional<std::string> place = settings.text(key);
    if (place && *place != "sentence_embedding")
      return refuse_module(result,
                           fmt::format("{}: {}: only sentence_embedding is computed here", settings.path(), key));
  }
  const Checkpoint checkpoint = Checkpoint::open(folder, options);
  SentenceLayer layer;
  layer.weight = to_fp32(find_tensor(checkpoint, "linear.weight", {*outputs, *inputs}));
  if (settings.flag("bias", true)) layer.bias = to_fp32(find_tensor(checkpoint, "linear.bias", {*outputs}));
  layer.outputs = static_cast<size_t>(*outputs);
  layer.activation = *activation;
  result.layers.push_back(std::move(layer));
}

double activate(double x, Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
    case Activation::kRelu:
      return x > 0 ? x : 0;
    case Activation::kSwish:
      return x / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kLinear:
      break;
  }
  return x;
}

std::vector<float> apply_dense(const std::vector<float>& input, const SentenceLayer& layer) {
  std::vector<float> output(layer.outputs);
  for (size_t o = 0; o < layer.outputs; ++o) {
    double sum = layer.bias.empty() ? 0.0 : double{layer.bias[o]};
    for (size_t i = 0; i < input.size(); ++i) sum += double{layer.weight[o * input.size() + i]} * input[i];
    output[o] = static_cast<float>(activate(sum, layer.activation));
  }
  return output;
}

// ---- all of them

void read_module(const std::string& path, const Module& module, int64_t hidden_size, const OpenOptions& options,
                 SentenceModules& result) {
  const std::string folder = folder_of(path, module);
  const auto columns = [&] { return static_cast<int64_t>(columns_after(result, static_cast<size_t>(hidden_size))); };
  if (module.kind == "Pooling") {
    read_pooling(folder, hidden_size, result);
  } else if (!result.refusal.empty()) {
    return;  // what the vectors look like from here on is not known
  } else if (result.poolings.empty() && (module.kind == "Dense" || module.kind == "Normalize")) {
    refuse_module(result, fmt::format("module {} before any Pooling is not computed here", module.kind));
  } else if (module.kind == "Dense") {
    read_dense(folder, columns(), options, result);
  } else if (module.kind == "Normalize") {
    result.layers.emplace_back();
  } else if (module.kind != "Transformer" && module.kind != "Dropout") {
    refuse_module(result, fmt::format("module {}: expected Transformer, Pooling, Dense or Normalize", module.kind));
  }
}

void read_length(const std::string& folder, SentenceModules& result) {
  const std::string path = folder + "/sentence_bert_config.json";
  if (!is_regular_file(path)) return;
  result.max_tokens = static_cast<size_t>(Settings(path).number("max_seq_length", 3, kMaxTokens).value_or(0));
}

// A model that was trained with a text before each text answers worse without it.
void warn_of_prompt(const std::string& path) {
  const std::string where = path + "/config_sentence_transformers.json";
  if (!is_regular_file(where)) return;
  if (const auto name = Settings(where).text("default_prompt_name"))
    warn(
        fmt::format("{}: default_prompt_name {}: the prompt is not added; put it in front of the texts", where, *name));
}

}  // namespace

std::string transformer_folder(const std::string& path) {
  for (const Module& module : read_modules(path)) {
    if (module.kind == "Transformer") return folder_of(path, module);
  }
  return path;
}

SentenceModules load_sentence_modules(const std::string& path, int64_t hidden_size, const OpenOptions& options) {
  SentenceModules result;
  for (const Module& module : read_modules(path)) read_module(path, module, hidden_size, options, result);
  read_length(transformer_folder(path), result);
  warn_of_prompt(path);
  return result;
}

size_t columns_after(const SentenceModules& modules, size_t columns) {
  columns *= modules.poolings.size();
  for (const SentenceLayer& layer : modules.layers) columns = layer.weight.empty() ? columns : layer.outputs;
  return columns;
}

std::vector<float> sentence_vector(std::span<const float> rows_LD, size_t columns, const SentenceModules& modules) {
  std::vector<float> vector;
  for (const Pooling pooling : modules.poolings) {
    const std::vector<float> part = pool(rows_LD, columns, pooling);
    vector.insert(vector.end(), part.begin(), part.end());
  }
  for (const SentenceLayer& layer : modules.layers) {
    if (layer.weight.empty()) {
      normalize(vector);
    } else {
      vector = apply_dense(vector, layer);
    }
  }
  return vector;
}

}  // namespace deberta
