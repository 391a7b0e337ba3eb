// Tensors by name and shape, and their products by the library's own kernels.
// M rows  N outputs  K inputs  D hidden
#include "analysis/layer_tensors.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/arena.h"
#include "checkpoint/tensor.h"
#include "checkpoint/tensor_table.h"
#include "kernels/gemm.h"
#include "kernels/layer_norm.h"

namespace deberta {
namespace {

std::string self_of(int32_t layer) {
  return fmt::format("encoder.layer.{}.attention.self.", layer - 1);
}

// A projection of version 1 that has no bias has none in its file.
LinearWeights linear(const Checkpoint& checkpoint, const ModelConfig& config, const std::string& weight,
                     const std::string& bias) {
  const int64_t hidden = config.hidden_size;
  LinearWeights weights{tensor_values(checkpoint, weight, {hidden, hidden}), {}};
  if (checkpoint.find(bias) != nullptr) weights.bias_N = tensor_values(checkpoint, bias, {hidden});
  return weights;
}

// The rows of the queries out of in_proj [H, 3, K, D] (model-heads.md#layout-of-version-1).
LinearWeights fused_queries(const Checkpoint& checkpoint, const ModelConfig& config, const std::string& self) {
  const int64_t hidden = config.hidden_size;
  const std::vector<float> fused = tensor_values(checkpoint, self + "in_proj.weight", {3 * hidden, hidden});
  const size_t of_head = static_cast<size_t>(config.attention_head_size) * static_cast<size_t>(hidden);
  LinearWeights weights{{}, tensor_values(checkpoint, self + "q_bias", {hidden})};
  for (size_t begin = 0; begin < fused.size(); begin += 3 * of_head)
    weights.weight_NK.insert(weights.weight_NK.end(), fused.begin() + static_cast<std::ptrdiff_t>(begin),
                             fused.begin() + static_cast<std::ptrdiff_t>(begin + of_head));
  return weights;
}

}  // namespace

std::vector<float> tensor_values(const Checkpoint& checkpoint, const std::string& name, const Shape& shape) {
  const TensorView* tensor = checkpoint.find(name);
  if (tensor != nullptr && tensor->shape == shape) return to_fp32(*tensor);
  const std::vector<std::string> paths = checkpoint.paths();
  throw Error(ErrorCode::kTensors, paths.empty() ? "checkpoint" : paths.front(),
              fmt::format("{}: expected shape {}, got {}", name, to_string(shape),
                          tensor == nullptr ? "no such tensor" : to_string(tensor->shape)));
}

VectorRows relative_table(const Checkpoint& checkpoint, const ModelConfig& config, bool is_normed) {
  const int64_t rows = 2 * config.span(), hidden = config.hidden_size;
  VectorRows table{static_cast<size_t>(rows), static_cast<size_t>(hidden),
                   tensor_values(checkpoint, "encoder.rel_embeddings.weight", {rows, hidden})};
  if (!is_normed || !config.has_rel_layer_norm) return table;
  const std::vector<float> gamma_D = tensor_values(checkpoint, "encoder.LayerNorm.weight", {hidden});
  const std::vector<float> beta_D = tensor_values(checkpoint, "encoder.LayerNorm.bias", {hidden});
  LayerNormParams p;
  p.x_TD = p.y_TD = table.values.data();
  p.gamma_D = gamma_D.data();
  p.beta_D = beta_D.data();
  p.rows = table.rows;
  p.columns = table.columns;
  p.epsilon = config.layer_norm_eps;
  layer_norm(select_kernels("auto"), p);
  return table;
}

LinearWeights query_projection(const Checkpoint& checkpoint, const ModelConfig& config, int32_t layer) {
  const std::string self = self_of(layer);
  if (find_layout(config, checkpoint) == Layout::kV1) return fused_queries(checkpoint, config, self);
  return linear(checkpoint, config, self + "query_proj.weight", self + "query_proj.bias");
}

LinearWeights position_projection(const Checkpoint& checkpoint, const ModelConfig& config, int32_t layer,
                                  PositionSide side) {
  const bool is_key = side == PositionSide::kKeys;
  std::string name = self_of(layer);
  if (find_layout(config, checkpoint) == Layout::kV1)
    name += is_key ? "pos_proj" : "pos_q_proj";
  else
    name += fmt::format("{}{}_proj", config.share_att_key ? "" : "pos_", is_key ? "key" : "query");
  return linear(checkpoint, config, name + ".weight", name + ".bias");
}

VectorRows project(const VectorRows& x_MK, const LinearWeights& weights) {
  const KernelSet kernels = select_kernels("auto");
  const WeightSource source{
      .w_NK = weights.weight_NK.data(), .outputs = weights.weight_NK.size() / x_MK.columns, .depth = x_MK.columns};
  const size_t size_bytes = gemm_packed_bytes(kernels, Precision::kFp32, source);
  Arena panels;
  panels.reserve(Arena::bytes_for<std::byte>(size_bytes));
  VectorRows y_MN{x_MK.rows, source.outputs, std::vector<float>(x_MK.rows * source.outputs)};
  GemmParams p;
  p.a_MK = x_MK.values.data();
  p.rows = x_MK.rows;
  p.weights = gemm_pack(kernels, Precision::kFp32, source, panels.take<std::byte>(size_bytes));
  p.bias_N = weights.bias_N.empty() ? nullptr : weights.bias_N.data();
  p.c_MN = y_MN.values.data();
  gemm(kernels, p);
  return y_MN;
}

}  // namespace deberta
