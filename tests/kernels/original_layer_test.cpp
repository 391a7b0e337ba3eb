// One layer of the original code with fewer and with more queries than keys, put together from the kernels. Needs the
// shared folder.
// L queries  S keys of one sequence  D hidden  H heads  K head size  R relative rows
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/arena.h"
#include "checkpoint/safetensors.h"
#include "kernels/attention.h"
#include "kernels/gemm.h"
#include "kernels/layer_norm.h"
#include "support/paths.h"

namespace deberta::original_layer_test {
namespace {

constexpr size_t kHidden = 32, kHeads = 4, kHeadSize = 8, kRows = 64;  // D, H, K, R of both cases
constexpr double kTolerance = 5e-5;                                    // from the folder's README

const KernelSet kKernels = select_kernels("auto");

class Layer {
 public:
  explicit Layer(const std::string& path) : file_(path) {}

  std::vector<float> values(const std::string& name) const {
    const TensorView* tensor = file_.find(name);
    return tensor != nullptr ? to_fp32(*tensor) : std::vector<float>{};
  }
  std::vector<int64_t> integers(const std::string& name) const { return to_int64(*file_.find(name)); }
  size_t dimension(const std::string& name, size_t n) const { return static_cast<size_t>(file_.find(name)->shape[n]); }

  // act(x W^T + b) [+ residual]; by heads, [H, rows, K], when `by_heads`.
  std::vector<float> linear(const std::string& name, const std::vector<float>& x, bool by_heads,
                            KernelActivation activation = KernelActivation::kLinear,
                            const std::vector<float>* residual = nullptr) const {
    const std::vector<float> weight = values("w." + prefix_ + name + ".weight");
    const std::vector<float> bias = values("w." + prefix_ + name + ".bias");
    const size_t depth = weight.size() / bias.size();
    Arena arena;
    const WeightSource source{weight.data(), bias.size(), depth};
    const size_t size_bytes = gemm_packed_bytes(kKernels, Precision::kFp32, source);
    arena.reserve(Arena::bytes_for<std::byte>(size_bytes));
    GemmParams p{};
    p.a_MK = x.data();
    p.rows = x.size() / depth;
    p.weights = gemm_pack(kKernels, Precision::kFp32, source, arena.take<std::byte>(size_bytes));
    p.bias_N = bias.data();
    p.activation = activation;
    p.residual_MN = residual != nullptr ? residual->data() : nullptr;
    std::vector<float> y(p.rows * bias.size());
    p.c_MN = y.data();
    p.head_size = by_heads ? kHeadSize : 0;
    p.head_stride = p.rows * kHeadSize;
    gemm(kKernels, p);
    return y;
  }

  std::vector<float> norm(const std::string& full_name, std::vector<float> x) const {
    const std::vector<float> gamma = values("w." + full_name + ".weight"), beta = values("w." + full_name + ".bias");
    LayerNormParams p{};
    p.x_TD = p.y_TD = x.data();
    p.gamma_D = gamma.data();
    p.beta_D = beta.data();
    p.columns = gamma.size();
    p.rows = x.size() / p.columns;
    layer_norm(kKernels, p);
    return x;
  }
  std::vector<float> layer_norm_of(const std::string& name, std::vector<float> x) const {
    return norm(prefix_ + name, std::move(x));
  }

 private:
  SafetensorsFile file_;
  std::string prefix_ = "encoder.layer.0.";
};

// The words of each sequence's mask [L, S], S at most 64.
std::vector<std::vector<uint64_t>> make_masks(const Layer& layer, size_t sequences, size_t queries, size_t keys) {
  const std::vector<int64_t> mask_BLS = layer.integers("in.attention_mask");
  std::vector<std::vector<uint64_t>> masks(sequences, std::vector<uint64_t>(queries));
  for (size_t at = 0; at < mask_BLS.size(); ++at) {
    const size_t row = at / keys;
    if (mask_BLS[at] != 0) masks[row / queries][row % queries] |= uint64_t{1} << (at % keys);
  }
  return masks;
}

void expect_near(const std::vector<float>& got, const std::vector<float>& expected, const char* what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) ASSERT_NEAR(got[i], expected[i], kTolerance) << what << " " << i;
}

void expect_original_layer(const std::string& name) {
  const std::string path = test::shared("reference/original-goldens/" + name + ".safetensors");
  if (path.empty()) GTEST_SKIP() << "needs the shared folder";
  const Layer layer(path);
  const auto queries_TD = layer.values("in.queries"), keys_TD = layer.values("in.keys");
  const size_t sequences = layer.dimension("in.keys", 0);
  const size_t queries = layer.dimension("in.queries", 1), keys = layer.dimension("in.keys", 1);
  std::vector<int32_t> query_starts, key_starts;
  for (size_t b = 0; b <= sequences; ++b) {
    query_starts.push_back(static_cast<int32_t>(b * queries));
    key_starts.push_back(static_cast<int32_t>(b * keys));
  }
  const auto masks = make_masks(layer, sequences, queries, keys);
  std::vector<const uint64_t*> masks_B;
  for (const auto& mask : masks) masks_B.push_back(mask.data());

  const auto table_RD = layer.norm("encoder.LayerNorm", layer.values("w.encoder.rel_embeddings.weight"));
  ASSERT_EQ(table_RD.size(), kRows * kHidden);
  const std::string query_proj = "attention.self.query_proj", key_proj = "attention.self.key_proj";
  const auto q = layer.linear(query_proj, queries_TD, true), k = layer.linear(key_proj, keys_TD, true);
  const auto v = layer.linear("attention.self.value_proj", keys_TD, true);
  const auto kr = layer.linear(key_proj, table_RD, true), qr = layer.linear(query_proj, table_RD, true);
  const RelLut lut({32, 64, true, 64});
  std::vector<float> context(queries_TD.size());
  std::vector<float> probabilities(sequences * kHeads * queries * keys);
  AttentionParams p{};
  p.q = {q.data(), kHeadSize, sequences * queries * kHeadSize};
  p.k = {k.data(), kHeadSize, sequences * keys * kHeadSize};
  p.v = {v.data(), kHeadSize, sequences * keys * kHeadSize};
  const auto pack = [](const std::vector<float>& table_HRK, bool is_reversed, std::vector<float>& packed) {
    const RelativeTableParams shape{Precision::kFp32, kHeads, kHeadSize, kRows, is_reversed};
    packed.resize(attention_table_bytes(kKernels, shape) / sizeof(float));
    return attention_pack_table(kKernels, shape, {table_HRK.data(), kHeadSize, kRows * kHeadSize}, packed.data());
  };
  std::vector<float> packed_kr, packed_qr;
  p.kr = pack(kr, true, packed_kr);
  p.qr = pack(qr, false, packed_qr);
  p.out = {context.data(), kHidden, kHeadSize};
  p.sequences = sequences;
  p.heads = kHeads;
  p.head_size = kHeadSize;
  p.starts = key_starts.data();
  p.query_starts = query_starts.data();
  p.scale = 1 / std::sqrt(3.0 * kHeadSize);
  p.has_c2p = p.has_p2c = true;
  p.lut = &lut;
  p.masks_B = masks_B.data();
  p.scores.probabilities = probabilities.data();
  std::vector<double> scratch(attention_scratch_bytes(kKernels, p) / sizeof(double) + 1);
  p.scratch = scratch.data();
  attention(kKernels, p);
  expect_near(probabilities, layer.values("out.probabilities.1"), "probabilities");

  const auto linear = KernelActivation::kLinear;
  const auto a = layer.layer_norm_of("attention.output.LayerNorm",
                                     layer.linear("attention.output.dense", context, false, linear, &queries_TD));
  const auto inner = layer.linear("intermediate.dense", a, false, KernelActivation::kGelu);
  const auto output = layer.layer_norm_of("output.LayerNorm", layer.linear("output.dense", inner, false, linear, &a));
  expect_near(output, layer.values("out.output"), "output");
}

TEST(OriginalLayer, WithFewerQueriesThanKeys) {
  expect_original_layer("layer_queries_7_keys_20");
}

TEST(OriginalLayer, WithMoreQueriesThanKeys) {
  expect_original_layer("layer_queries_20_keys_7");
}

}  // namespace
}  // namespace deberta::original_layer_test
