// What runs on kernels against the composition in double: values and gradients, whichever kernels; and no bit depends
// on threads or on the pack.
// N rows  D columns  V vocabulary
#include <ATen/ops/cat.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "base/thread_pool.h"
#include "support/torch_numbers.h"
#include "train/ops/activation.h"
#include "train/ops/attention.h"
#include "train/ops/convolution.h"
#include "train/ops/cross_entropy.h"
#include "train/ops/dropout.h"
#include "train/ops/embedding.h"
#include "train/ops/feed_forward.h"
#include "train/ops/layer_norm.h"
#include "train/ops/linear.h"
#include "train/ops/self_attention.h"

namespace deberta::train::kernels_test {
namespace {

using namespace test;

using Operation = std::function<at::Tensor(const Compute&, const std::vector<at::Tensor>&)>;
struct Case {
  std::string name;
  std::vector<std::vector<int64_t>> shapes;  // shapes of the inputs that get gradients
  Operation operation;
  double tolerance = 2e-6;       // absolute for a value; for a gradient relative to the largest one, or to 1
  double bf16_tolerance = 1e-2;  // relative L2
};

at::Tensor ids(int64_t count, int64_t limit) {
  at::Tensor tensor = at::empty({count}, at::kInt);
  for (int64_t n = 0; n < count; ++n) tensor.data_ptr<int32_t>()[n] = static_cast<int32_t>(n * n % limit);
  return tensor;
}

// Lengths 1, 130, 0, 37, 3.
const std::vector<int32_t> kStarts = {0, 1, 131, 131, 168, 171};
constexpr int64_t kTokens = 171;

std::vector<uint8_t> make_mask() {
  std::vector<uint8_t> mask(kTokens, 1);
  for (size_t t = 0; t < kTokens; t += 7) mask[t] = 0;
  return mask;
}

struct AttentionKind {
  std::string name;
  bool has_c2p = true, has_p2c = true, is_causal = false, has_mask = false, has_chosen = false;
  double p = 0;
  int64_t head_size = 32;
};

std::vector<AttentionKind> attention_kinds() {
  return {{.name = "both"},
          {.name = "c2p", .has_p2c = false},
          {.name = "p2c", .has_c2p = false},
          {.name = "content", .has_c2p = false, .has_p2c = false},
          {.name = "causal", .is_causal = true},
          {.name = "masked", .has_mask = true},
          {.name = "chosen", .has_chosen = true},
          {.name = "dropped", .has_mask = true, .p = 0.1},
          {.name = "chosen_dropped", .has_chosen = true, .p = 0.5},
          {.name = "small_heads", .has_mask = true, .p = 0.1, .head_size = 12}};
}

// What attention reads besides q, k, v and the tables.
AttentionInputs attention_inputs(const AttentionKind& kind) {
  auto keys = std::make_shared<Rows>(Rows{kStarts});
  if (kind.has_mask) keys->mask_N = make_mask();
  AttentionInputs in;
  in.queries = in.keys = keys;
  if (kind.has_chosen) in.queries = std::make_shared<Rows>(Rows{{0, 1, 4, 4, 5, 5}, {0, 2, 64, 129, 20}});
  in.lut =
      std::make_shared<RelLut>(RelLutParams{.position_buckets = 32, .max_relative_positions = 128, .max_length = 256});
  in.heads = 2;
  in.scale = 0.1;
  in.is_causal = kind.is_causal;
  in.dropout = {.p = kind.p, .seed = 17, .step = 3, .layer = 5, .sequence_offset = 2};
  return in;
}

void add_tables(const AttentionKind& kind, int64_t size, std::vector<std::vector<int64_t>>& shapes) {
  for (int term = 0; term < (kind.has_c2p ? 1 : 0) + (kind.has_p2c ? 1 : 0); ++term) shapes.push_back({64, size});
}
// `first`: where the tables are among the inputs.
void set_tables(const AttentionKind& kind, const std::vector<at::Tensor>& x, size_t first, AttentionInputs& in) {
  if (kind.has_c2p) in.kr_RD = x[first];
  if (kind.has_p2c) in.qr_RD = x.back();
}

Case attention_case(const AttentionKind& kind) {
  const AttentionInputs inputs = attention_inputs(kind);
  const int64_t size = inputs.heads * kind.head_size, rows = static_cast<int64_t>(inputs.queries->count());
  std::vector<std::vector<int64_t>> shapes = {{rows, size}, {kTokens, size}, {kTokens, size}};
  add_tables(kind, size, shapes);
  return {"attention " + kind.name, shapes,
          [=](const Compute& compute, const std::vector<at::Tensor>& x) {
            AttentionInputs in = inputs;
            in.q_ND = x[0];
            in.k_TD = x[1];
            in.v_TD = x[2];
            set_tables(kind, x, 3, in);
            return attention(compute, in);
          },
          5e-6};
}

at::Tensor parts_of_self_attention(const Compute& compute, const at::Tensor& x, AttentionInputs in,
                                   const SelfAttentionWeights& w) {
  in.q_ND = linear(compute, x, w.query.weight_DD, w.query.bias_D);
  in.k_TD = linear(compute, x, w.key.weight_DD, w.key.bias_D);
  in.v_TD = linear(compute, x, w.value.weight_DD, w.value.bias_D);
  return linear(compute, attention(compute, in), w.output.weight_DD, w.output.bias_D);
}

// The inputs: x, weight and bias of query, key, value and output, tables. Without p2c a bias of the keys changes
// nothing.
Case self_attention_case(const AttentionKind& kind, bool is_fused = true) {
  const bool has_key_bias = kind.has_p2c && !kind.has_mask;
  const AttentionInputs inputs = attention_inputs(kind);
  const int64_t size = inputs.heads * kind.head_size;
  std::vector<std::vector<int64_t>> shapes = {{kTokens, size}};
  for (int projection = 0; projection < 4; ++projection) {
    shapes.push_back({size, size});
    shapes.push_back({size});
  }
  if (!has_key_bias) shapes.erase(shapes.begin() + 4);
  const size_t tables = shapes.size();
  add_tables(kind, size, shapes);
  return {"self-attention " + kind.name, shapes,
          [=](const Compute& compute, const std::vector<at::Tensor>& x) {
            AttentionInputs in = inputs;
            set_tables(kind, x, tables, in);
            const double size_of_weights = 1 / std::sqrt(static_cast<double>(size));
            size_t next = 1;
            const auto projection = [&](bool has_bias) {
              const at::Tensor weight = x[next++] * size_of_weights;
              return SelfAttentionWeights::Projection{weight, has_bias ? x[next++] : at::Tensor()};
            };
            SelfAttentionWeights w;
            w.query = projection(true);
            w.key = projection(has_key_bias);
            w.value = projection(true);
            w.output = projection(true);
            return is_fused ? self_attention(compute, x[0], in, w) : parts_of_self_attention(compute, x[0], in, w);
          },
          5e-6, 2e-2};  // three rounded products, one behind the other
}

Case feed_forward_case(int64_t inner) {
  return {"feed-forward of " + std::to_string(inner),
          {{37, 24}, {inner, 24}, {inner}, {24, inner}, {24}},
          [](auto& c, auto& x) {
            return feed_forward(c, x[0], {x[1], x[2], x[3], x[4]}, KernelActivation::kGelu);
          },
          5e-6};
}

std::vector<Case> cases() {
  const Rows rows{kStarts};
  const Dropout drop{.p = 0.1, .seed = 4, .step = 2, .layer = 1, .sequence_offset = 3};
  std::vector<Case> all = {
      {"linear", {{37, 24}, {40, 24}, {40}}, [](auto& c, auto& x) { return linear(c, x[0], x[1], x[2]); }},
      {"linear without bias", {{3, 24}, {5, 24}}, [](auto& c, auto& x) { return linear(c, x[0], x[1], {}); }},
      {"linear of transposed rows",
       {{24, 37}, {40, 24}, {40}},
       [](auto& c, auto& x) { return linear(c, x[0].t(), x[1], x[2]); }},
      feed_forward_case(40),
      feed_forward_case(41),
      {"embedding", {{19, 24}}, [](auto& c, auto& x) { return embedding(c, x[0], ids(50, 19), 4); }},
      {"layer norm",
       {{37, 48}, {48}, {48}},
       [](auto& c, auto& x) {
         return layer_norm(c, x[0], {x[1], x[2], 1e-7});
       }},
      {"add and norm",
       {{kTokens, 48}, {kTokens, 48}, {48}, {48}},
       [=](auto& c, auto& x) {
         return add_norm(c, x[0], x[1], {x[2], x[3], 1e-7}, {}, rows);
       }},
      {"drop, add and norm",
       {{kTokens, 48}, {kTokens, 48}, {48}, {48}},
       [=](auto& c, auto& x) {
         return add_norm(c, x[0], x[1], {x[2], x[3], 1e-7}, drop, rows);
       }},
      {"dropout", {{kTokens, 50}}, [=](auto& c, auto& x) { return dropout(c, x[0], drop, rows); }},
      {"dropout of a table", {{30, 50}}, [=](auto& c, auto& x) { return dropout(c, x[0], drop); }},
      {"convolution",
       {{kTokens, 24}, {24, 12, 3}, {24}},
       [=](auto& c, auto& x) {
         return convolution(c, x[0], {x[1], x[2], 2}, {kStarts, {}, make_mask()});
       }},
      {"cross-entropy",
       {{37, 24}, {300, 24}, {300}},
       [](auto& c, auto& x) {
         return cross_entropy(c, x[0], {x[1], x[2]}, ids(37, 300), 16).sum;
       },
       1e-5},
  };
  for (int kind = 0; kind <= static_cast<int>(KernelActivation::kLaplace); ++kind) {
    all.push_back({"activation " + std::to_string(kind), {{7, 33}}, [kind](auto& c, auto& x) {
                     return activate(c, x[0] * 3, static_cast<KernelActivation>(kind));
                   }});
  }
  for (const AttentionKind& kind : attention_kinds()) {
    all.push_back(attention_case(kind));
    if (!kind.has_chosen) all.push_back(self_attention_case(kind));
  }
  return all;
}

struct Result {
  at::Tensor value;
  std::vector<at::Tensor> gradients;
};

Result run(const Case& c, const Compute& compute, at::ScalarType type) {
  std::vector<at::Tensor> inputs;
  for (size_t n = 0; n < c.shapes.size(); ++n) {
    inputs.push_back(normal_tensor(n + 1, c.shapes[n], type).requires_grad_(true));
  }
  Result result;
  result.gradients = gradients_of(inputs, [&] {
    result.value = c.operation(compute, inputs);
    return (result.value * normal_tensor(99, result.value.sizes(), result.value.scalar_type())).sum();
  });
  return result;
}

double relative_error(const at::Tensor& expected, const at::Tensor& got) {
  return worst_difference(expected, got) / std::max(1.0, expected.abs().max().item<double>());
}

TEST(KernelOperations, AgreeWithTheCompositionInDouble) {
  for (const char* kernels : {"reference", "auto"}) {
    for (const Case& c : cases()) {
      const Result expected = run(c, {.kernels = select_kernels(kernels), .composes = true}, at::kDouble);
      const Result got = run(c, {.kernels = select_kernels(kernels)}, at::kFloat);
      EXPECT_LE(relative_error(expected.value, got.value), c.tolerance) << c.name << ", " << kernels;
      for (size_t n = 0; n < got.gradients.size(); ++n) {
        EXPECT_LE(relative_error(expected.gradients[n], got.gradients[n]), c.tolerance)
            << c.name << ", gradient " << n << ", " << kernels;
      }
    }
  }
}

TEST(KernelOperations, GiveTheSameBitsOnAnyNumberOfThreads) {
  ThreadPool pool(3);
  for (const Case& c : cases()) {
    const Result single = run(c, {.kernels = select_kernels("auto")}, at::kFloat);
    const Result three = run(c, {.kernels = select_kernels("auto"), .parallel = pool.parallel()}, at::kFloat);
    EXPECT_EQ(worst_difference(single.value, three.value), 0) << c.name;
    for (size_t n = 0; n < single.gradients.size(); ++n) {
      EXPECT_EQ(worst_difference(single.gradients[n], three.gradients[n]), 0) << c.name << ", gradient " << n;
    }
  }
}

double relative_l2(const at::Tensor& expected, const at::Tensor& got) {
  const at::Tensor difference = got.to(at::kDouble) - expected;
  return std::sqrt(difference.square().sum().item<double>() / std::max(1e-6, expected.square().sum().item<double>()));
}

// What is multiplied is rounded to 8 bits, nothing else.
TEST(KernelOperations, InBf16AreAsExactAsItsProducts) {
  for (const char* kernels : {"reference", "avx2", "auto"}) {
    for (const Case& c : cases()) {
      const Compute compute{.kernels = select_kernels(kernels), .precision = Precision::kBf16};
      const Result expected = run(c, {.kernels = compute.kernels, .composes = true}, at::kDouble);
      const Result got = run(c, compute, at::kFloat);
      EXPECT_LE(relative_l2(expected.value, got.value), c.bf16_tolerance) << c.name << ", " << kernels;
      for (size_t n = 0; n < got.gradients.size(); ++n)
        EXPECT_LE(relative_l2(expected.gradients[n], got.gradients[n]), c.bf16_tolerance)
            << c.name << ", gradient " << n << ", " << kernels;
    }
  }
}

TEST(KernelOperations, InBf16GiveTheSameBitsOnAnyNumberOfThreads) {
  ThreadPool pool(3);
  for (const Case& c : cases()) {
    const KernelSet kernels = select_kernels("auto");
    const Result single = run(c, {.kernels = kernels, .precision = Precision::kBf16}, at::kFloat);
    const Result three =
        run(c, {.kernels = kernels, .parallel = pool.parallel(), .precision = Precision::kBf16}, at::kFloat);
    EXPECT_EQ(worst_difference(single.value, three.value), 0) << c.name;
    for (size_t n = 0; n < single.gradients.size(); ++n)
      EXPECT_EQ(worst_difference(single.gradients[n], three.gradients[n]), 0) << c.name << ", gradient " << n;
  }
}

// The same bits, but for dx, which one product sums in another order.
TEST(KernelOperations, SelfAttentionIsItsParts) {
  for (const Precision precision : {Precision::kFp32, Precision::kBf16}) {
    for (const AttentionKind& kind : attention_kinds()) {
      if (kind.has_chosen) continue;
      const Compute compute{.kernels = select_kernels("auto"), .precision = precision};
      const Result parts = run(self_attention_case(kind, false), compute, at::kFloat);
      const Result fused = run(self_attention_case(kind), compute, at::kFloat);
      EXPECT_EQ(worst_difference(parts.value, fused.value), 0) << kind.name;
      EXPECT_LE(relative_error(parts.gradients[0], fused.gradients[0]), 2e-6) << kind.name;
      for (size_t n = 1; n < parts.gradients.size(); ++n)
        EXPECT_EQ(worst_difference(parts.gradients[n], fused.gradients[n]), 0) << kind.name << ", gradient " << n;
    }
  }
}

// Frozen inputs cost nothing and get nothing.
TEST(KernelOperations, GiveNoGradientWhereNoneIsWanted) {
  const Compute compute{.kernels = select_kernels("auto")};
  const at::Tensor x = normal_tensor(1, {5, 8}, at::kFloat), w = normal_tensor(2, {4, 8}, at::kFloat);
  at::Tensor b = normal_tensor(3, {4}, at::kFloat).requires_grad_(true);
  linear(compute, x, w, b).sum().backward();
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(w.grad().defined());
  EXPECT_EQ(worst_difference(b.grad(), normal_tensor(3, {4}, at::kFloat) * 0 + 5), 0);
}

}  // namespace
}  // namespace deberta::train::kernels_test
