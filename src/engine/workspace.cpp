// Planned twice: once to measure, once to take.
#include "engine/workspace.h"

#include <algorithm>
#include <numeric>

#include "engine/output_heads.h"
#include "engine/query_rows.h"

namespace deberta {
namespace {

struct Planner {
  Arena* arena = nullptr;  // null: measure only
  size_t size_bytes = 0;
  template <class T>
  T* take(size_t count) {
    size_bytes += Arena::bytes_for<T>(count);
    return arena != nullptr ? arena->take<T>(count) : nullptr;
  }
};

// Buffers that make_workspace fills.
struct Inputs {
  int32_t* positions_T = nullptr;
  uint8_t* mask_T = nullptr;
};

// For one row: room for the wider of bf16 and u8.
size_t operand_bytes(size_t columns) {
  return spread_columns(columns, Precision::kBf16) * sizeof(Bf16);
}

// Rows for linear layers of a precision other than fp32.
OperandRows plan_operand(const Pass& pass, Planner& planner, size_t rows, size_t columns) {
  if (pass.weights.precision == Precision::kFp32) return {};
  OperandRows operand{.data = planner.take<std::byte>(rows * operand_bytes(columns))};
  if (pass.weights.precision == Precision::kBf16) return operand;
  operand.scales_T = planner.take<float>(rows);
  operand.side_TO = planner.take<Bf16>(rows * pass.weights.outliers);
  return operand;
}

void plan_head(const Pass& pass, Planner& planner, Workspace& w) {
  const size_t rows = head_rows(pass);
  const size_t hidden = as_size(pass.config.hidden_size);
  w.head_rows_ND = planner.take<float>(rows * head_columns(pass));
  w.head_inner_ND = planner.take<float>(rows * head_inner_columns(pass));
  w.head_operand = plan_operand(pass, planner, rows, std::max(hidden, as_size(pass.config.embedding_size)));
  if (rows > 0 && pass.weights.head.pooling_query_D != nullptr)
    w.pooling_weights_T = planner.take<double>(pass.batch.tokens());
  if (!reads_some_rows(pass)) return;
  const size_t chosen = chosen_rows_bound(pass);
  w.query_starts = planner.take<int32_t>(pass.batch.sequences() + 1);
  w.query_rows_N = planner.take<int32_t>(chosen);
  w.query_positions_N = planner.take<int32_t>(chosen);
  w.query_table_rows_N = planner.take<int32_t>(chosen);
  w.query_mask_N = planner.take<uint8_t>(chosen);
}

// Buffers of the layers, shared by all.
void plan_layers(const Pass& pass, Planner& planner, Workspace& w) {
  const size_t tokens = pass.batch.tokens();
  const size_t hidden = as_size(pass.config.hidden_size);
  const size_t inner = as_size(pass.config.intermediate_size);
  const size_t workers = pass.parallel.workers;
  const size_t heads_bytes = tokens * hidden * pass.attention_element_bytes();
  w.operand_TD = plan_operand(pass, planner, tokens, hidden);
  w.q_HNK = planner.take<std::byte>(3 * heads_bytes);
  if (w.q_HNK != nullptr) {
    w.k_HTK = w.q_HNK + heads_bytes;
    w.v_HTK = w.k_HTK + heads_bytes;
  }
  w.context_ND = planner.take<std::byte>(tokens * pass.intermediate_bytes(hidden));
  w.block_rows = std::min(gemm_blocking(pass.kernels, pass.weights.precision).block_rows, tokens);
  w.inner_NF = planner.take<std::byte>(workers * w.block_rows * pass.intermediate_bytes(inner));
  if (pass.weights.precision == Precision::kInt8) {
    w.block_operand_bytes = operand_bytes(std::max(hidden, inner));
    w.block_operand = plan_operand(pass, planner, workers * w.block_rows, std::max(hidden, inner));
  }
}

Workspace plan(const Pass& pass, Planner& planner, Inputs& inputs) {
  const size_t tokens = pass.batch.tokens();
  const size_t hidden = as_size(pass.config.hidden_size);
  const bool has_projection = pass.weights.embed_proj.weights.panels != nullptr;
  Workspace w;
  w.hidden_TD = planner.take<float>(tokens * hidden);
  w.embedding_TE = has_projection ? planner.take<float>(tokens * as_size(pass.config.embedding_size)) : w.hidden_TD;
  plan_layers(pass, planner, w);
  if (pass.config.conv_kernel_size > 0) {
    w.convolution_TD = planner.take<float>(tokens * hidden);
    w.convolution_scratch = planner.take<float>(
        convolution_scratch_count(pass.kernels, pass.weights.convolution.shape, tokens, pass.parallel.workers));
  }
  inputs.positions_T = planner.take<int32_t>(tokens);
  if (!pass.batch.masks_B.empty()) {
    inputs.mask_T = planner.take<uint8_t>(tokens);
    w.masks_B = planner.take<const uint64_t*>(pass.batch.sequences());
  }
  plan_head(pass, planner, w);
  // The decoder's queries are some of the tokens: they need no more.
  w.attention_scratch = planner.take<std::byte>(attention_scratch_bytes(pass.kernels, attention_of_batch(pass, {})));
  return w;
}

const int32_t* find_positions(const Batch& batch, int32_t* default_T) {
  if (!batch.position_ids_T.empty()) return batch.position_ids_T.data();
  for (size_t b = 0; b < batch.sequences(); ++b) {
    std::iota(default_T + batch.starts[b], default_T + batch.starts[b + 1], 0);
  }
  return default_T;
}

// mask_T[j] = 0 where no query of the sequence may see token j.
void leave_out_unseen(const std::vector<uint64_t>& mask, size_t length, uint8_t* mask_T) {
  const size_t words = (length + 63) / 64;
  for (size_t word = 0; word < words; ++word) {
    uint64_t seen = 0;
    for (size_t i = 0; i < length; ++i) seen |= mask[i * words + word];
    for (size_t j = 64 * word; j < std::min(length, 64 * (word + 1)); ++j) {
      if ((seen >> (j % 64) & 1) == 0) mask_T[j] = 0;
    }
  }
}

// The 2-D mask; with 3-D masks also whether any query sees the token (model.md#masks).
const uint8_t* find_input_mask(const Batch& batch, uint8_t* buffer_T) {
  const uint8_t* given_T = batch.mask_T.empty() ? nullptr : batch.mask_T.data();
  if (batch.masks_B.empty()) return given_T;
  std::fill_n(buffer_T, batch.tokens(), uint8_t{1});
  if (given_T != nullptr) std::copy_n(given_T, batch.tokens(), buffer_T);
  for (size_t b = 0; b < batch.sequences(); ++b) {
    if (batch.masks_B[b].empty()) continue;
    leave_out_unseen(batch.masks_B[b], as_size(batch.starts[b + 1] - batch.starts[b]), buffer_T + batch.starts[b]);
  }
  return buffer_T;
}

}  // namespace

Workspace make_workspace(const Pass& pass, Arena& arena) {
  Planner measure;
  Inputs inputs;
  plan(pass, measure, inputs);
  arena.reserve(measure.size_bytes);
  Planner taker{.arena = &arena};
  Workspace w = plan(pass, taker, inputs);
  w.positions_T = find_positions(pass.batch, inputs.positions_T);
  w.input_mask_T = find_input_mask(pass.batch, inputs.mask_T);
  for (size_t b = 0; b < pass.batch.masks_B.size(); ++b) {
    const std::vector<uint64_t>& mask = pass.batch.masks_B[b];
    w.masks_B[b] = mask.empty() ? nullptr : mask.data();
  }
  return w;
}

States hidden_states(const Pass& pass, const Workspace& space) {
  return {.x_TD = space.hidden_TD, .operand = space.operand_TD, .rows = pass.batch.tokens()};
}

AttentionParams attention_of_batch(const Pass& pass, const Workspace& space) {
  const Batch& batch = pass.batch;
  AttentionParams p{};
  p.precision = attention_precision(pass.weights.precision);
  p.out = {.data = space.context_ND,
           .token_stride = pass.intermediate_stride(as_size(pass.config.hidden_size)),
           .head_stride = as_size(pass.config.attention_head_size)};
  p.sequences = batch.sequences();
  p.heads = as_size(pass.config.num_attention_heads);
  p.head_size = as_size(pass.config.attention_head_size);
  p.starts = batch.starts.data();
  p.lut = pass.lut;
  p.relative_rows = as_size(2 * pass.config.span());
  if (!batch.given_buckets_LL.empty()) p.given_buckets_LS = batch.given_buckets_LL.data();
  p.given_stride = as_size(batch.given_length);
  if (!batch.mask_T.empty()) p.key_mask_T = batch.mask_T.data();
  p.masks_B = space.masks_B;
  p.is_causal = pass.config.is_causal;
  const bool has_mask = p.key_mask_T != nullptr || p.masks_B != nullptr;  // else no row is empty
  p.averages_empty_rows = has_mask && pass.empty_rows == EmptyRows::kAverage;
  p.scratch = space.attention_scratch;
  p.parallel = pass.parallel;
  return p;
}

}  // namespace deberta
