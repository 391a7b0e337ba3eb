// Planned twice: once to measure, once to take.
#include "engine/workspace.h"

#include <algorithm>
#include <numeric>

#include "engine/entity_heads.h"
#include "engine/output_heads.h"
#include "engine/query_rows.h"

namespace deberta {
namespace {

struct Planner {
  bool is_on_host = true;
  PassMemory* memory = nullptr;  // null: measure only
  size_t operand_bytes = 0, host_bytes = 0;

  // For operations.
  template <class T>
  T* take(size_t count) {
    operand_bytes += Arena::bytes_for<T>(count);
    return memory != nullptr ? memory->operands.take<T>(count) : nullptr;
  }
  // For values that lie on the host: null where operations read them there.
  template <class T>
  T* take_copy(size_t count) {
    return is_on_host || count == 0 ? nullptr : take<T>(count);
  }
  // For the host alone.
  template <class T>
  T* take_host(size_t count) {
    if (is_on_host) return take<T>(count);
    host_bytes += Arena::bytes_for<T>(count);
    return memory != nullptr ? memory->host.take<T>(count) : nullptr;
  }
  template <class T>
  Staged<T> stage(size_t count) {
    Staged<T> staged{.host = take_host<T>(count), .device = nullptr};
    staged.device = is_on_host ? staged.host : take<T>(count);
    return staged;
  }
};

// Buffers that make_workspace fills; of copies those that are not null.
struct Inputs {
  int32_t* ids_T = nullptr;
  int32_t* type_ids_T = nullptr;
  Staged<int32_t> positions_T;
  uint8_t* mask_T = nullptr;
  Staged<uint8_t> input_mask_T;
  Staged<const uint64_t*> masks_B;
  uint64_t* mask_words = nullptr;
  int32_t* given_buckets_LL = nullptr;
  int32_t* rows_N = nullptr;
};

size_t mask_words(const Batch& batch) {
  size_t words = 0;
  for (const std::vector<uint64_t>& mask : batch.masks_B) words += mask.size();
  return words;
}

Inputs plan_inputs(const Pass& pass, Planner& planner) {
  const Batch& batch = pass.batch;
  Inputs inputs;
  inputs.ids_T = planner.take_copy<int32_t>(batch.ids_T.size());
  inputs.type_ids_T = planner.take_copy<int32_t>(batch.type_ids_T.size());
  inputs.positions_T = planner.stage<int32_t>(batch.tokens());
  inputs.mask_T = planner.take_copy<uint8_t>(batch.mask_T.size());
  inputs.given_buckets_LL = planner.take_copy<int32_t>(batch.given_buckets_LL.size());
  inputs.rows_N = planner.take_copy<int32_t>(pass.options.rows.size());
  if (batch.masks_B.empty()) return inputs;
  inputs.input_mask_T = planner.stage<uint8_t>(batch.tokens());
  inputs.masks_B = planner.stage<const uint64_t*>(batch.sequences());
  inputs.mask_words = planner.take_copy<uint64_t>(mask_words(batch));
  return inputs;
}

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

// What says which rows belong together: the first token's beside each, or those of a group.
void plan_groups(const Pass& pass, Planner& planner, Workspace& w) {
  const std::vector<TokenGroup>& groups = pass.options.groups;
  const bool reads_first = pass.head.facts->reads == HeadReads::kTokensAndFirst;
  if (reads_first || !groups.empty()) w.first_rows_N = planner.stage<int32_t>(head_rows(pass));
  if (groups.empty()) return;
  size_t rows = 0;
  for (const TokenGroup& group : groups) rows += group.rows.size();
  w.group_starts = planner.stage<int32_t>(groups.size() + 1);
  w.group_rows = planner.stage<int32_t>(rows);
  w.group_weights = planner.take<double>(rows);
}

void plan_lstm(const Pass& pass, Planner& planner, const EntityShape& shape, EntityBuffers& e) {
  if (pass.weights.head.entities.rnn.empty()) return;
  const size_t both = 2 * shape.words, half = shape.columns / 2;
  e.order_2W = planner.stage<int32_t>(both);
  e.back_2W = planner.stage<int32_t>(both);
  e.input_2WU = planner.take<float>(both * shape.columns);
  e.gates_2W4H = planner.take<float>(both * 4 * half);
  e.hidden_2WH = planner.take<float>(both * half);
  e.cell_2BH = planner.take<float>(2 * pass.batch.sequences() * half);
}

// Every inner layer has 4 U columns or fewer.
void plan_entities(const Pass& pass, Planner& planner, EntityBuffers& e) {
  const EntityShape shape = entity_shape(pass);
  if (shape.scores == 0) return;
  const size_t columns = shape.columns, inner = 4 * columns;
  e.rows_N = planner.stage<int32_t>(shape.labels + shape.pieces);
  e.piece_starts = planner.take_host<int32_t>(shape.words + 1);
  if (pass.weights.head.entities.projection.weights.panels != nullptr)
    e.states_NU = planner.take<float>((shape.labels + shape.pieces) * columns);
  e.words_WU = planner.take<float>(shape.words * columns);
  plan_lstm(pass, planner, shape, e);
  e.inner_NF = planner.take<float>(std::max({shape.labels, shape.words, pass.parallel.workers}) * inner);
  e.labels_CU = planner.take<float>(shape.labels * columns);
  e.folded_CF = planner.take<float>(shape.labels * inner);
  e.constant_C = planner.take<float>(shape.labels);
  e.first_WU = planner.take<float>(shape.words * columns);
  e.last_WU = planner.take<float>(shape.words * columns);
  if (pass.config.extraction->span_mode == SpanMode::kMarker) {
    e.ends_WC = planner.take<double>(shape.most_ends);
    return;
  }
  e.first_WF = planner.take<float>(shape.words * inner);
  if (pass.config.extraction->has_spans()) {
    e.last_WF = planner.take<float>(shape.words * inner);
    return;
  }
  e.label_product_CU = planner.take<float>(shape.labels * columns);
  e.pairs_NU = planner.take<float>(shape.most_pairs * columns);
  e.pairs_NF = planner.take<float>(shape.most_pairs * inner);
}

// Numbers of the logits.
size_t count_logits(const Pass& pass, size_t rows) {
  if (!pass.options.wants_logits || !pass.head.facts->has_logits()) return 0;
  if (pass.head.facts->takes_labelled_words()) return entity_shape(pass).scores;
  return rows * pass.weights.head.classifier.weights.outputs;
}

void plan_head(const Pass& pass, Planner& planner, Workspace& w) {
  const size_t rows = head_rows(pass);
  const size_t hidden = as_size(pass.config.hidden_size);
  w.head_rows_ND = planner.take<float>(rows * head_columns(pass));
  w.head_inner_ND = planner.take<float>(rows * head_inner_columns(pass));
  w.head_operand = plan_operand(pass, planner, rows, std::max(hidden, as_size(pass.config.embedding_size)));
  if (rows > 0 && pass.weights.head.pooling_query_D != nullptr)
    w.pooling_weights_T = planner.take<double>(pass.batch.tokens());
  plan_groups(pass, planner, w);
  if (pass.head.facts->takes_labelled_words()) plan_entities(pass, planner, w.entities);
  w.logits_NC = planner.take_copy<float>(count_logits(pass, rows));
  if (pass.options.wants_logits && pass.head.facts->is_per_sequence())
    w.pooled_BD = planner.take_copy<float>(pass.batch.sequences() * hidden);
  if (!reads_some_rows(pass)) return;
  const size_t chosen = chosen_rows_bound(pass);
  w.query_starts = planner.take_host<int32_t>(pass.batch.sequences() + 1);
  w.query_rows_N = planner.stage<int32_t>(chosen);
  w.query_positions_N = planner.stage<int32_t>(chosen);
  w.query_table_rows_N = planner.stage<int32_t>(chosen);
  w.query_mask_N = planner.stage<uint8_t>(chosen);
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
  inputs = plan_inputs(pass, planner);
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

// The 2-D mask, and whether any query sees the token by the 3-D masks (model.md#masks).
void fill_input_mask(const Batch& batch, uint8_t* buffer_T) {
  std::fill_n(buffer_T, batch.tokens(), uint8_t{1});
  if (!batch.mask_T.empty()) std::copy_n(batch.mask_T.data(), batch.tokens(), buffer_T);
  for (size_t b = 0; b < batch.sequences(); ++b) {
    if (batch.masks_B[b].empty()) continue;
    leave_out_unseen(batch.masks_B[b], as_size(batch.starts[b + 1] - batch.starts[b]), buffer_T + batch.starts[b]);
  }
}

// Uploads what the host has; without a buffer for it operations read it where it lies.
template <class T>
const T* place(const Pass& pass, const std::vector<T>& host, T* copy) {
  if (host.empty()) return nullptr;
  if (copy == nullptr) return host.data();
  pass.kernels.memory->copy_in(copy, host.data(), host.size() * sizeof(T));
  return copy;
}

// Each sequence's 3-D mask where operations read it.
void place_masks(const Pass& pass, const Inputs& inputs) {
  uint64_t* words = inputs.mask_words;
  for (size_t b = 0; b < pass.batch.masks_B.size(); ++b) {
    const std::vector<uint64_t>& mask = pass.batch.masks_B[b];
    inputs.masks_B.host[b] = place(pass, mask, words);
    if (words != nullptr) words += mask.size();
  }
  upload(pass, inputs.masks_B, pass.batch.masks_B.size());
}

void fill_inputs(const Pass& pass, const Inputs& inputs, Workspace& w) {
  const Batch& batch = pass.batch;
  w.ids_T = place(pass, batch.ids_T, inputs.ids_T);
  w.type_ids_T = place(pass, batch.type_ids_T, inputs.type_ids_T);
  w.mask_T = w.input_mask_T = place(pass, batch.mask_T, inputs.mask_T);
  w.given_buckets_LL = place(pass, batch.given_buckets_LL, inputs.given_buckets_LL);
  w.rows_N = place(pass, pass.options.rows, inputs.rows_N);
  w.host_positions_T = w.positions_T = find_positions(batch, inputs.positions_T.host);
  if (inputs.positions_T.device != inputs.positions_T.host) {
    pass.kernels.memory->copy_in(inputs.positions_T.device, w.host_positions_T, batch.tokens() * sizeof(int32_t));
    w.positions_T = inputs.positions_T.device;
  }
  if (batch.masks_B.empty()) return;
  fill_input_mask(batch, inputs.input_mask_T.host);
  upload(pass, inputs.input_mask_T, batch.tokens());
  w.input_mask_T = inputs.input_mask_T.device;
  place_masks(pass, inputs);
  w.masks_B = inputs.masks_B.device;
}

}  // namespace

Workspace make_workspace(const Pass& pass, PassMemory& memory) {
  const bool is_on_host = pass.kernels.memory == nullptr;
  Inputs inputs;
  Planner measure{.is_on_host = is_on_host};
  plan(pass, measure, inputs);
  memory.operands.reserve(measure.operand_bytes);
  if (!is_on_host) memory.host.reserve(measure.host_bytes);
  Planner taker{.is_on_host = is_on_host, .memory = &memory};
  Workspace w = plan(pass, taker, inputs);
  fill_inputs(pass, inputs, w);
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
  p.given_buckets_LS = space.given_buckets_LL;
  p.given_stride = as_size(batch.given_length);
  p.key_mask_T = space.mask_T;
  p.masks_B = space.masks_B;
  p.is_causal = pass.config.is_causal;
  const bool has_mask = p.key_mask_T != nullptr || p.masks_B != nullptr;  // else no row is empty
  p.averages_empty_rows = has_mask && pass.empty_rows == EmptyRows::kAverage;
  p.scratch = space.attention_scratch;
  p.parallel = pass.parallel;
  return p;
}

}  // namespace deberta
