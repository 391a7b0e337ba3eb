// Each module from the keys of its config.json and the tensors next to it.
#include "pipeline/sentence_layers.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/file.h"
#include "base/log.h"
#include "deberta/error.h"
#include "pipeline/sentence_settings.h"

namespace deberta {
namespace {

constexpr std::string_view kSentenceEmbedding = "sentence_embedding";

// Modules pass values on by name; all but one of them work on the vector of the text.
bool is_of_sentence(const SentenceSettings& settings, SentenceModules& result) {
  for (const char* key : {"module_input_name", "module_output_name"}) {
    const std::optional<std::string> value_name = settings.text(key);
    if (!value_name || *value_name == kSentenceEmbedding) continue;
    refuse_module(
        result, fmt::format("{}: {} {}: only {} is supported", settings.path(), key, *value_name, kSentenceEmbedding));
    return false;
  }
  return true;
}

struct ActivationRow {
  std::string_view name;  // class name after "torch.nn."
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

// The weights of a module: every tensor is read and none is left over, as when the library loads them.
class ModuleWeights {
 public:
  ModuleWeights(const std::string& folder, const OpenOptions& options)
      : checkpoint_(Checkpoint::open(folder, options)), where_(checkpoint_.paths().front()) {}

  std::vector<float> take(const std::string& name, const Shape& shape) {
    const TensorView* tensor = checkpoint_.find(name);
    if (tensor == nullptr) throw Error(ErrorCode::kTensors, where_, fmt::format("1 tensor missing: {}", name));
    taken_.push_back(name);
    if (tensor->shape == shape) return to_fp32(*tensor);
    throw Error(ErrorCode::kTensors, where_,
                fmt::format("tensor {}: expected shape [{}], got [{}]", name, fmt::join(shape, ", "),
                            fmt::join(tensor->shape, ", ")));
  }
  void expect_no_more() const {
    for (const TensorView& tensor : checkpoint_.tensors()) {
      if (std::find(taken_.begin(), taken_.end(), tensor.name) == taken_.end())
        throw Error(ErrorCode::kTensors, where_,
                    fmt::format("unexpected tensor {}: its config.json does not describe it", tensor.name));
    }
  }

 private:
  Checkpoint checkpoint_;
  std::string where_;
  std::vector<std::string> taken_;
};

// Tanh for old files, and for a class that is not torch's, which the library does not trust.
std::optional<Activation> dense_activation(const SentenceSettings& settings, SentenceModules& result) {
  const std::optional<std::string> name = settings.text("activation_function");
  if (!name) return Activation::kTanh;
  if (!name->starts_with("torch.")) {
    warn(fmt::format("{}: activation_function {} is not a torch class; Tanh is used, as in sentence-transformers",
                     settings.path(), *name));
    return Activation::kTanh;
  }
  const std::optional<Activation> activation = find_activation(*name);
  if (!activation)
    refuse_module(result, fmt::format("{}: activation_function {} is not supported", settings.path(), *name));
  return activation;
}

}  // namespace

void refuse_module(SentenceModules& result, std::string reason) {
  if (result.refusal.empty()) result.refusal = std::move(reason);
}

void read_dense(const std::string& folder, int64_t columns, const OpenOptions& options, SentenceModules& result) {
  const SentenceSettings settings(folder + "/config.json");
  const auto inputs = settings.number("in_features", 1, kMaxColumns);
  const auto outputs = settings.number("out_features", 1, kMaxColumns);
  if (!inputs || *inputs != columns)
    settings.refuse("in_features", fmt::format("{}, the output size of the previous module", columns));
  if (!outputs) settings.refuse("out_features", "an integer");
  const std::optional<Activation> activation = dense_activation(settings, result);
  if (!activation || !is_of_sentence(settings, result)) return;
  ModuleWeights weights(folder, options);
  SentenceLayer layer{.kind = SentenceLayer::Kind::kDense,
                      .weight = weights.take("linear.weight", {*outputs, *inputs}),
                      .bias = {},
                      .outputs = static_cast<size_t>(*outputs),
                      .activation = *activation,
                      .adds_input = settings.is_true("use_residual"),
                      .residual = {}};
  if (settings.is_true("bias", true)) layer.bias = weights.take("linear.bias", {*outputs});
  if (layer.adds_input && inputs != outputs) layer.residual = weights.take("residual.weight", {*outputs, *inputs});
  weights.expect_no_more();
  result.layers.push_back(std::move(layer));
}

void read_layer_norm(const std::string& folder, int64_t columns, const OpenOptions& options, SentenceModules& result) {
  const SentenceSettings settings(folder + "/config.json");
  const auto width = settings.number("dimension", 1, kMaxColumns);
  if (!width || *width != columns)
    settings.refuse("dimension", fmt::format("{}, the output size of the previous module", columns));
  ModuleWeights weights(folder, options);
  SentenceLayer layer;
  layer.kind = SentenceLayer::Kind::kLayerNorm;
  layer.outputs = static_cast<size_t>(*width);
  layer.weight = weights.take("norm.weight", {*width});
  layer.bias = weights.take("norm.bias", {*width});
  weights.expect_no_more();
  result.layers.push_back(std::move(layer));
}

// Old folders have no file for it.
void read_normalize(const std::string& folder, SentenceModules& result) {
  const std::string path = folder + "/config.json";
  if (is_regular_file(path) && !is_of_sentence(SentenceSettings(path), result)) return;
  result.layers.emplace_back();
}

}  // namespace deberta
