// From tensors to packed weights and projected relative tables.
#include "engine/weights.h"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "checkpoint/tensor_table.h"
#include "kernels/layer_norm.h"

namespace deberta {
namespace {

size_t as_size(int64_t value) {
  return static_cast<size_t>(value);
}

class Loader {
 public:
  Loader(const Checkpoint& checkpoint, const ModelConfig& config, const KernelSet& kernels, const Parallel& parallel,
         WeightStore& store)
      : checkpoint_(checkpoint), config_(config), kernels_(kernels), parallel_(parallel), store_(store) {}

  EmbeddingTable table(std::string_view name);
  const float* vector(const std::string& name);
  Norm norm(const std::string& prefix) { return {vector(prefix + ".weight"), vector(prefix + ".bias")}; }
  // Rows of several weights below each other.
  Linear linear(std::initializer_list<std::string> prefixes);
  Linear weights_only(std::string_view name);
  LayerWeights layer(int64_t n, const std::vector<float>& relative_RD);
  std::vector<float> relative_table();

 private:
  const TensorView& tensor(std::string_view name);
  PackedWeights pack(const std::vector<float>& w_NK, size_t depth, WeightStore& store);
  const float* project(const std::vector<float>& relative_RD, const std::string& prefix);

  const Checkpoint& checkpoint_;
  const ModelConfig& config_;
  const KernelSet& kernels_;
  const Parallel& parallel_;
  WeightStore& store_;
};

const TensorView& Loader::tensor(std::string_view name) {
  const TensorView* view = checkpoint_.find(name);
  if (view == nullptr) throw Error(ErrorCode::kInternal, "engine", fmt::format("the tensor table has no {}", name));
  return *view;
}

// F64 has no kernel: it is rounded once into the store.
EmbeddingTable Loader::table(std::string_view name) {
  const TensorView& view = tensor(name);
  const size_t rows = as_size(view.shape[0]);
  switch (view.dtype) {
    case DType::kF32:
      return {view.bytes.data(), TableFormat::kF32, rows};
    case DType::kF16:
      return {view.bytes.data(), TableFormat::kF16, rows};
    case DType::kBf16:
      return {view.bytes.data(), TableFormat::kBf16, rows};
    default:
      return {vector(std::string(name)), TableFormat::kF32, rows};
  }
}

const float* Loader::vector(const std::string& name) {
  const TensorView& view = tensor(name);
  float* values = store_.allocate(view.count());
  to_fp32(view, values);
  return values;
}

PackedWeights Loader::pack(const std::vector<float>& w_NK, size_t depth, WeightStore& store) {
  const size_t outputs = w_NK.size() / depth;
  float* panels = store.allocate(gemm_packed_count(kernels_, outputs, depth));
  return gemm_pack(kernels_, w_NK.data(), outputs, depth, panels);
}

Linear Loader::linear(std::initializer_list<std::string> prefixes) {
  std::vector<float> weight, bias;
  size_t depth = 1;
  for (const std::string& prefix : prefixes) {
    const TensorView& view = tensor(prefix + ".weight");
    depth = as_size(view.shape[1]);
    const std::vector<float> rows = to_fp32(view);
    weight.insert(weight.end(), rows.begin(), rows.end());
    const std::vector<float> part = to_fp32(tensor(prefix + ".bias"));
    bias.insert(bias.end(), part.begin(), part.end());
  }
  float* stored_bias = store_.allocate(bias.size());
  std::copy(bias.begin(), bias.end(), stored_bias);
  return {pack(weight, depth, store_), stored_bias};
}

Linear Loader::weights_only(std::string_view name) {
  const TensorView& view = tensor(name);
  return {pack(to_fp32(view), as_size(view.shape[1]), store_), nullptr};
}

// P' of algorithm.md 5.1: normalised once for all layers.
std::vector<float> Loader::relative_table() {
  if (!config_.relative_attention || (!config_.has_c2p && !config_.has_p2c)) return {};
  std::vector<float> table_RD = to_fp32(tensor("encoder.rel_embeddings.weight"));
  if (!config_.has_rel_layer_norm) return table_RD;
  WeightStore temporary;
  Loader loader(checkpoint_, config_, kernels_, parallel_, temporary);
  const Norm norm = loader.norm("encoder.LayerNorm");
  LayerNormParams p{};
  p.x_TD = p.y_TD = table_RD.data();
  p.gamma_D = norm.gamma;
  p.beta_D = norm.beta;
  p.columns = as_size(config_.hidden_size);
  p.rows = table_RD.size() / p.columns;
  p.epsilon = config_.layer_norm_eps;
  p.parallel = parallel_;
  layer_norm(kernels_, p);
  return table_RD;
}

// Kr or Qr of one layer, [H, R, K]: the table through a projection with its bias (the bias does not cancel in p2c).
const float* Loader::project(const std::vector<float>& relative_RD, const std::string& prefix) {
  WeightStore temporary;
  Loader loader(checkpoint_, config_, kernels_, parallel_, temporary);
  const Linear projection = loader.linear({prefix});
  GemmParams p{};
  p.a_MK = relative_RD.data();
  p.rows = relative_RD.size() / as_size(config_.hidden_size);
  p.weights = projection.weights;
  p.bias_N = projection.bias;
  p.head_size = as_size(config_.attention_head_size);
  p.head_stride = p.rows * p.head_size;
  p.parallel = parallel_;
  float* table_HRK = store_.allocate(p.rows * p.weights.outputs);
  p.c_MN = table_HRK;
  gemm(kernels_, p);
  return table_HRK;
}

LayerWeights Loader::layer(int64_t n, const std::vector<float>& relative_RD) {
  const std::string layer = fmt::format("encoder.layer.{}.", n);
  const std::string self = layer + "attention.self.";
  LayerWeights w;
  w.qkv = linear({self + "query_proj", self + "key_proj", self + "value_proj"});
  if (!relative_RD.empty() && config_.has_c2p) {
    w.kr_HRK = project(relative_RD, self + (config_.share_att_key ? "key_proj" : "pos_key_proj"));
  }
  if (!relative_RD.empty() && config_.has_p2c) {
    w.qr_HRK = project(relative_RD, self + (config_.share_att_key ? "query_proj" : "pos_query_proj"));
  }
  w.attention_output = linear({layer + "attention.output.dense"});
  w.attention_norm = norm(layer + "attention.output.LayerNorm");
  w.up = linear({layer + "intermediate.dense"});
  w.down = linear({layer + "output.dense"});
  w.output_norm = norm(layer + "output.LayerNorm");
  return w;
}

HeadWeights load_head(Loader& loader, Head head) {
  HeadWeights w;
  switch (head) {
    case Head::kNone:
    case Head::kReplacedToken:
      break;
    case Head::kSequence:
      w.dense = loader.linear({"pooler.dense"});
      w.classifier = loader.linear({"classifier"});
      break;
    case Head::kTokenOriginal:
      w.dense = loader.linear({"proj"});
      w.classifier = loader.linear({"classifier"});
      break;
    case Head::kToken:
      w.classifier = loader.linear({"classifier"});
      break;
    case Head::kSpan:
      w.classifier = loader.linear({"qa_outputs"});
      break;
    case Head::kMaskedLm:
      w.dense = loader.linear({"lm_predictions.lm_head.dense"});
      w.norm = loader.norm("lm_predictions.lm_head.LayerNorm");
      w.classifier = loader.weights_only("embeddings.word_embeddings.weight");
      w.classifier.bias = loader.vector("lm_predictions.lm_head.bias");
      break;
  }
  return w;
}

}  // namespace

KernelActivation to_kernel(Activation activation) {
  switch (activation) {
    case Activation::kGelu:
      return KernelActivation::kGelu;
    case Activation::kRelu:
      return KernelActivation::kRelu;
    case Activation::kSwish:
      return KernelActivation::kSwish;
    case Activation::kTanh:
      return KernelActivation::kTanh;
    case Activation::kLinear:
      return KernelActivation::kLinear;
    case Activation::kSigmoid:
      return KernelActivation::kSigmoid;
  }
  return KernelActivation::kLinear;
}

float* WeightStore::allocate(size_t count) {
  const size_t size_bytes = Arena::bytes_for<float>(count);
  Arena& block = blocks_.emplace_back();
  block.reserve(size_bytes);
  size_bytes_ += size_bytes;
  return block.take<float>(count);
}

ModelWeights load_weights(const Checkpoint& checkpoint, const ModelConfig& config, Head head, const KernelSet& kernels,
                          const Parallel& parallel) {
  ModelWeights w;
  Loader loader(checkpoint, config, kernels, parallel, w.store);
  w.word = loader.table("embeddings.word_embeddings.weight");
  if (config.type_vocab_size > 0) w.type = loader.table("embeddings.token_type_embeddings.weight");
  if (config.position_biased_input) w.position = loader.table("embeddings.position_embeddings.weight");
  if (config.embedding_size != config.hidden_size) w.embed_proj = loader.weights_only("embeddings.embed_proj.weight");
  w.embedding_norm = loader.norm("embeddings.LayerNorm");
  const std::vector<float> relative_RD = loader.relative_table();
  for (int64_t n = 0; n < config.num_hidden_layers; ++n) w.layers.push_back(loader.layer(n, relative_RD));
  w.head = load_head(loader, head);
  w.labels = head == Head::kSpan ? 2 : count_labels(checkpoint);
  return w;
}

}  // namespace deberta
