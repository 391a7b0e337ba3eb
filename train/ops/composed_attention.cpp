// Every sequence by itself, all scores in memory, the relative terms gathered literally.
// L queries, S keys of one sequence
#include "train/ops/composed_attention.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>

#include <cmath>
#include <limits>
#include <vector>

#include "train/ops/dropout.h"

namespace deberta::train {
namespace {

struct Sequence {
  const AttentionInputs& in;
  size_t number = 0;

  int64_t queries() const { return static_cast<int64_t>(in.queries->end(number) - in.queries->begin(number)); }
  int64_t keys() const { return static_cast<int64_t>(in.keys->end(number) - in.keys->begin(number)); }
  int64_t query_position(int64_t i) const {
    return in.queries->position(number, in.queries->begin(number) + static_cast<size_t>(i));
  }
  int64_t key_position(int64_t j) const {
    return in.keys->position(number, in.keys->begin(number) + static_cast<size_t>(j));
  }
  static bool is_masked(const Rows& rows, size_t row) { return !rows.mask_N.empty() && rows.mask_N[row] == 0; }
  bool is_allowed(int64_t i, int64_t j) const {
    if (is_masked(*in.queries, in.queries->begin(number) + static_cast<size_t>(i))) return false;
    if (is_masked(*in.keys, in.keys->begin(number) + static_cast<size_t>(j))) return false;
    return !in.is_causal || key_position(j) <= query_position(i);
  }
};

// [rows, D] of one sequence, or [R, D], as [H, rows, K].
at::Tensor by_heads(const at::Tensor& x_ND, int64_t heads) {
  return x_ND.view({x_ND.size(0), heads, x_ND.size(1) / heads}).transpose(0, 1);
}

at::Tensor rows_of_sequence(const at::Tensor& x_ND, const Rows& rows, size_t sequence) {
  return x_ND.narrow(0, rows.starts[sequence], rows.starts[sequence + 1] - rows.starts[sequence]);
}

// row(i - j) of every pair.
at::Tensor relative_rows(const Sequence& s, const at::Device& device) {
  at::Tensor rows_LS = at::empty({s.queries(), s.keys()}, at::kLong);
  int64_t* row = rows_LS.data_ptr<int64_t>();
  for (int64_t i = 0; i < s.queries(); ++i) {
    for (int64_t j = 0; j < s.keys(); ++j) *row++ = s.in.lut->row(s.query_position(i) - s.key_position(j));
  }
  return rows_LS.to(device);
}

at::Tensor allowed_pairs(const Sequence& s, const at::Device& device) {
  at::Tensor allowed_LS = at::empty({s.queries(), s.keys()}, at::kBool);
  bool* allowed = allowed_LS.data_ptr<bool>();
  for (int64_t i = 0; i < s.queries(); ++i) {
    for (int64_t j = 0; j < s.keys(); ++j) *allowed++ = s.is_allowed(i, j);
  }
  return allowed_LS.to(device);
}

// A of one sequence, unmasked. c2p and p2c read the same row(i - j): the one from the query's side, the other from the
// key's.
at::Tensor scores(const Sequence& s, const at::Tensor& q_HLK, const at::Tensor& k_HSK) {
  const AttentionInputs& in = s.in;
  at::Tensor a_HLS = q_HLK.matmul(k_HSK.transpose(1, 2));
  if (!in.kr_RD.defined() && !in.qr_RD.defined()) return a_HLS * in.scale;
  const at::Tensor rows_HLS = relative_rows(s, q_HLK.device()).unsqueeze(0).expand({in.heads, -1, -1});
  if (in.kr_RD.defined()) {
    const at::Tensor all_HLR = q_HLK.matmul(by_heads(in.kr_RD, in.heads).transpose(1, 2));
    a_HLS = a_HLS + all_HLR.gather(2, rows_HLS);
  }
  if (in.qr_RD.defined()) {
    const at::Tensor all_HSR = k_HSK.matmul(by_heads(in.qr_RD, in.heads).transpose(1, 2));
    a_HLS = a_HLS + all_HSR.gather(2, rows_HLS.transpose(1, 2)).transpose(1, 2);
  }
  return a_HLS * in.scale;
}

// Rows without an allowed key keep their scores, so that no NaN arises, and lose their probabilities.
at::Tensor masked_softmax(const at::Tensor& a_HLS, const at::Tensor& allowed_LS) {
  const at::Tensor hides_LS = allowed_LS.logical_not().logical_and(allowed_LS.any(1, true));
  const double none = -std::numeric_limits<double>::infinity();
  return a_HLS.masked_fill(hides_LS, none).softmax(2).masked_fill(allowed_LS.logical_not(), 0);
}

at::Tensor attend(const Sequence& s) {
  const AttentionInputs& in = s.in;
  const at::Tensor q_HLK = by_heads(rows_of_sequence(in.q_ND, *in.queries, s.number), in.heads);
  const at::Tensor k_HSK = by_heads(rows_of_sequence(in.k_TD, *in.keys, s.number), in.heads);
  const at::Tensor v_HSK = by_heads(rows_of_sequence(in.v_TD, *in.keys, s.number), in.heads);
  at::Tensor p_HLS = masked_softmax(scores(s, q_HLK, k_HSK), allowed_pairs(s, q_HLK.device()));
  if (in.dropout.threshold() > 0) {
    p_HLS = p_HLS * attention_dropout_factors(in.dropout, *in.queries, s.number, in.heads, s.keys(), p_HLS);
  }
  return p_HLS.matmul(v_HSK).transpose(0, 1).reshape({s.queries(), in.v_TD.size(1)});
}

}  // namespace

at::Tensor composed_attention(const AttentionInputs& inputs) {
  std::vector<at::Tensor> parts;
  for (size_t b = 0; b < inputs.queries->sequences(); ++b) parts.push_back(attend({inputs, b}));
  return parts.empty() ? inputs.q_ND * 1 : at::cat(parts, 0);
}

}  // namespace deberta::train
