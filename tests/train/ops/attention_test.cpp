// Disentangled attention with gradients: against the double loops of src/kernels/reference, against finite differences,
// and what must not change with packing.
// T rows of keys  N query rows  D hidden  H heads  R relative rows
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "kernels/attention.h"
#include "support/torch_numbers.h"
#include "train/ops/attention.h"

namespace deberta::train::attention_test {
namespace {

using namespace test;

const Compute kCompute{.kernels = select_kernels("reference")};

struct AttentionCase {
  std::string name;
  int64_t buckets = 8, max_relative = 16;
  bool has_c2p = true, has_p2c = true;
  std::vector<int32_t> starts = {0, 7, 8, 19};
  std::vector<uint8_t> mask_T = {};
  std::vector<int32_t> query_starts = {};  // empty: every key is a query
  std::vector<int32_t> query_positions = {};
  bool is_causal = false;
  double p = 0;
};

std::vector<uint8_t> holes() {
  std::vector<uint8_t> mask_T(19, 1);
  mask_T[2] = mask_T[7] = mask_T[18] = 0;  // the second sequence has no key left
  return mask_T;
}

std::vector<AttentionCase> cases() {
  return {
      {.name = "buckets_8_16"},
      {.name = "buckets_4_9", .buckets = 4, .max_relative = 9},
      {.name = "buckets_256_512", .buckets = 256, .max_relative = 512},
      {.name = "no_buckets", .buckets = -1, .max_relative = 6},
      {.name = "c2p_alone", .has_p2c = false},
      {.name = "p2c_alone", .has_c2p = false},
      {.name = "content_alone", .has_c2p = false, .has_p2c = false},
      {.name = "holes", .mask_T = holes()},
      {.name = "causal", .is_causal = true},
      {.name = "causal_holes", .mask_T = holes(), .is_causal = true},
      {.name = "chosen_queries", .query_starts = {0, 2, 2, 5}, .query_positions = {1, 6, 0, 4, 10}},
      {.name = "chosen_queries_dropped", .query_starts = {0, 2, 2, 5}, .query_positions = {1, 6, 0, 4, 10}, .p = 0.5},
      {.name = "dropout", .mask_T = holes(), .p = 0.1},
      {.name = "dropout_4_9", .buckets = 4, .max_relative = 9, .p = 0.5},
      {.name = "empty_sequence", .starts = {0, 0, 19, 19}},
  };
}

constexpr int64_t kHeads = 2, kHeadSize = 4, kHidden = kHeads * kHeadSize;

AttentionInputs make_inputs(const AttentionCase& c, at::ScalarType type = at::kDouble) {
  auto keys = std::make_shared<Rows>(Rows{c.starts, {}, c.mask_T});
  auto queries = keys;
  if (!c.query_starts.empty()) {
    queries = std::make_shared<Rows>(Rows{c.query_starts, c.query_positions});
  }
  AttentionInputs in;
  const auto count = [](const Rows& rows) { return static_cast<int64_t>(rows.count()); };
  in.q_ND = normal_tensor(1, {count(*queries), kHidden}, type);
  in.k_TD = normal_tensor(2, {count(*keys), kHidden}, type);
  in.v_TD = normal_tensor(3, {count(*keys), kHidden}, type);
  in.lut = std::make_shared<RelLut>(RelLutParams{
      .position_buckets = c.buckets, .max_relative_positions = c.max_relative, .max_length = c.starts.back()});
  if (c.has_c2p) in.kr_RD = normal_tensor(4, {in.lut->rows(), kHidden}, type);
  if (c.has_p2c) in.qr_RD = normal_tensor(5, {in.lut->rows(), kHidden}, type);
  in.queries = queries;
  in.keys = keys;
  in.heads = kHeads;
  in.scale = 0.3;
  in.is_causal = c.is_causal;
  in.dropout = {.p = c.p, .seed = 17, .step = 3, .layer = 5, .sequence_offset = 2};
  return in;
}

std::vector<at::Tensor> tensors_of(const AttentionInputs& in) {
  std::vector<at::Tensor> tensors = {in.q_ND, in.k_TD, in.v_TD};
  if (in.kr_RD.defined()) tensors.push_back(in.kr_RD);
  if (in.qr_RD.defined()) tensors.push_back(in.qr_RD);
  return tensors;
}

// [R, H, K] as the kernels' packed table.
RelativeTable pack(const at::Tensor& table_RD, bool is_reversed, std::vector<float>& memory) {
  const RelativeTableParams params{.heads = kHeads,
                                   .head_size = kHeadSize,
                                   .rows = static_cast<size_t>(table_RD.size(0)),
                                   .is_reversed = is_reversed};
  memory.resize(attention_table_bytes(kCompute.kernels, params) / sizeof(float) + 16);
  void* aligned = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(memory.data()) + 63) / 64 * 64);
  return attention_pack_table(kCompute.kernels, params, {table_RD.data_ptr<float>(), kHidden, kHeadSize}, aligned);
}

// The lower triangle as the kernels' 3-D mask, one for each sequence.
std::vector<std::vector<uint64_t>> causal_masks(const std::vector<int32_t>& starts) {
  std::vector<std::vector<uint64_t>> masks;
  for (size_t b = 0; b + 1 < starts.size(); ++b) {
    std::vector<uint64_t>& mask = masks.emplace_back();
    for (int32_t i = 0; i < starts[b + 1] - starts[b]; ++i) mask.push_back((uint64_t{2} << i) - 1);
  }
  return masks;
}

// By the kernels' double loops.
at::Tensor reference_attention(const AttentionInputs& in) {
  at::Tensor out_ND = at::empty(in.q_ND.sizes(), at::kFloat);
  const auto heads = [](const at::Tensor& x) {
    return HeadRows<const void>{x.data_ptr<float>(), static_cast<size_t>(kHidden), static_cast<size_t>(kHeadSize)};
  };
  std::vector<float> kr_memory, qr_memory;
  AttentionParams p;
  p.q = heads(in.q_ND);
  p.k = heads(in.k_TD);
  p.v = heads(in.v_TD);
  p.out = {out_ND.data_ptr<float>(), static_cast<size_t>(kHidden), static_cast<size_t>(kHeadSize)};
  p.sequences = in.keys->sequences();
  p.heads = kHeads;
  p.head_size = kHeadSize;
  p.starts = in.keys->starts.data();
  p.query_starts = in.queries->starts.data();
  if (!in.queries->positions_N.empty()) p.query_positions = in.queries->positions_N.data();
  p.scale = in.scale;
  p.has_c2p = in.kr_RD.defined();
  p.has_p2c = in.qr_RD.defined();
  if (p.has_c2p) p.kr = pack(in.kr_RD, true, kr_memory);
  if (p.has_p2c) p.qr = pack(in.qr_RD, false, qr_memory);
  p.lut = in.lut.get();
  if (!in.keys->mask_N.empty()) p.key_mask_T = in.keys->mask_N.data();
  if (!in.queries->mask_N.empty()) p.query_mask_T = in.queries->mask_N.data();
  const std::vector<std::vector<uint64_t>> masks = causal_masks(in.keys->starts);
  std::vector<const uint64_t*> masks_B;
  for (const auto& mask : masks) masks_B.push_back(mask.data());
  if (in.is_causal) p.masks_B = masks_B.data();
  p.dropout = in.dropout;
  std::vector<double> scratch(attention_scratch_bytes(kCompute.kernels, p) / sizeof(double) + 8);
  p.scratch = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64);
  deberta::attention(kCompute.kernels, p);
  return out_ND;
}

TEST(TrainAttention, ComposedIsTheKernelsReference) {
  for (const AttentionCase& c : cases()) {
    const AttentionInputs in = make_inputs(c, at::kFloat);
    Compute composed = kCompute;
    composed.composes = true;
    EXPECT_LE(worst_difference(attention(composed, in), reference_attention(in)), 2e-6) << c.name;
  }
}

TEST(TrainAttention, GradientsAreFiniteDifferences) {
  for (const AttentionCase& c : cases()) {
    const AttentionInputs in = make_inputs(c);
    const at::Tensor cotangent = normal_tensor(9, in.q_ND.sizes());
    const std::vector<at::Tensor> tensors = tensors_of(in);
    for (const at::Tensor& tensor : tensors) tensor.requires_grad_(true);
    const auto function = [&] { return (attention(kCompute, in) * cotangent).sum(); };
    EXPECT_LE(worst_gradient_error(tensors, function), 1e-8) << c.name;
  }
}

// A term alone, Q or K constant and the table Kr[t] or Qr[t] = t: the score of i and j is row(i - j) exactly, which is
// not symmetric.
TEST(TrainAttention, BothTermsReadTheRowOfQueryMinusKey) {
  for (const bool is_c2p : {true, false}) {
    AttentionInputs in = make_inputs({.name = "one term", .has_c2p = is_c2p, .has_p2c = !is_c2p, .starts = {0, 12}});
    in.heads = 1;
    in.scale = 1;
    in.q_ND = normal_tensor(1, {12, 1}) * 0 + (is_c2p ? 1 : 0);
    in.k_TD = normal_tensor(1, {12, 1}) * 0 + (is_c2p ? 0 : 1);
    (is_c2p ? in.kr_RD : in.qr_RD) = at::arange(static_cast<int64_t>(in.lut->rows()), at::kDouble).view({-1, 1}) * 0.1;
    in.v_TD = at::arange(12, at::kDouble).view({-1, 1});
    const at::Tensor out = attention(kCompute, in);
    for (int64_t i = 0; i < 12; ++i) {
      double sum = 0, weighted = 0;
      for (int64_t j = 0; j < 12; ++j) {
        const double weight = std::exp(0.1 * in.lut->row(i - j));
        sum += weight;
        weighted += weight * static_cast<double>(j);
      }
      EXPECT_NEAR(out[i][0].item<double>(), weighted / sum, 1e-12) << (is_c2p ? "c2p " : "p2c ") << i;
    }
  }
}

TEST(TrainAttention, SequencesOfAPackAreThoseAlone) {
  for (const auto& [type, p] :
       {std::pair{at::kFloat, 0.0}, {at::kFloat, 0.5}, {at::kDouble, 0.0}, {at::kDouble, 0.5}}) {
    const AttentionInputs packed = make_inputs({.name = "pack", .p = p}, type);
    const at::Tensor together = attention(kCompute, packed);
    for (size_t b = 0; b < 3; ++b) {
      AttentionInputs alone = packed;
      const int64_t begin = packed.keys->starts[b], count = packed.keys->starts[b + 1] - begin;
      alone.keys = alone.queries = std::make_shared<Rows>(Rows{{0, static_cast<int32_t>(count)}});
      for (at::Tensor* x : {&alone.q_ND, &alone.k_TD, &alone.v_TD}) *x = x->narrow(0, begin, count).contiguous();
      alone.dropout.sequence_offset += static_cast<uint32_t>(b);
      EXPECT_EQ(worst_difference(attention(kCompute, alone), together.narrow(0, begin, count)), 0) << b << ", p " << p;
    }
  }
}

}  // namespace
}  // namespace deberta::train::attention_test
