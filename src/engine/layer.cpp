// Many rows: after attention a thread takes a block of them through everything else, with the weights going by; no
// thread waits for another. Few rows: one step after the other, each split over the weights. T packed tokens  N query
// rows  H heads  K head size  D hidden  F feed-forward
#include "engine/layer.h"

#include <algorithm>
#include <cmath>

namespace deberta {
namespace {

bool is_fp32(const Pass& pass) {
  return pass.weights.precision == Precision::kFp32;
}

// A part of the attention's operands, in its own number format.
void* part_of_qkv(const Pass& pass, const Workspace& space, size_t part) {
  return space.qkv_3HTK +
         part * pass.batch.tokens() * as_size(pass.config.hidden_size) * pass.attention_element_bytes();
}

LinearOutput output_to(const Pass& pass, void* rows) {
  return is_fp32(pass) ? LinearOutput{.y = static_cast<float*>(rows)}
                       : LinearOutput{.y_bf16 = static_cast<Bf16*>(rows)};
}

// Columns of a projection as heads, [..., H, rows, K].
void project(const Pass& pass, const Linear& linear, const LinearInput& input, size_t rows, void* out_HRK) {
  LinearOutput output = output_to(pass, out_HRK);
  output.head_size = as_size(pass.config.attention_head_size);
  output.head_stride = rows * output.head_size;
  apply_linear(pass, linear, input, rows, KernelActivation::kLinear, output);
}

void attend(const Pass& pass, const LayerWeights& layer, const QueryRows& queries, const Workspace& space,
            const AttentionScoreOutputs& scores) {
  AttentionParams p = base_attention(pass, space);
  const size_t head_stride = pass.batch.tokens() * p.head_size;
  p.q = {part_of_qkv(pass, space, 0), p.head_size, queries.rows * p.head_size};
  p.k = {part_of_qkv(pass, space, 1), p.head_size, head_stride};
  p.v = {part_of_qkv(pass, space, 2), p.head_size, head_stride};
  p.out = {space.context_TD, pass.attention_stride(p.heads * p.head_size), p.head_size};
  p.query_starts = queries.starts;
  p.query_positions = queries.positions_N;
  p.query_mask_T = queries.mask_N;
  p.has_c2p = layer.kr.has_data();
  p.has_p2c = layer.qr.has_data();
  p.kr = layer.kr;
  p.qr = layer.qr;
  p.scores = scores;
  p.scratch = space.attention_scratch;
  attention(pass.kernels, p);
}

// What one thread needs for a block of rows.
struct BlockBuffers {
  void* inner_RF = nullptr;
  OperandRows operand;  // of context or inner rows
};

BlockBuffers buffers_of(const Pass& pass, const Workspace& space, size_t worker) {
  const size_t inner = as_size(pass.config.intermediate_size);
  const size_t inner_bytes = pass.attention_stride(inner) * pass.attention_element_bytes();
  BlockBuffers buffers{space.inner_RF + worker * space.block_rows * inner_bytes, {}};
  if (space.block_operand.data == nullptr) return buffers;
  buffers.operand = space.block_operand;
  buffers.operand.data +=
      worker * space.block_rows * spread_columns(buffers.operand.columns, Precision::kBf16) * sizeof(Bf16);
  buffers.operand.scales_T += worker * space.block_rows;
  buffers.operand.side_TO += worker * space.block_rows * pass.weights.outliers;
  return buffers;
}

LinearInput input_of(const Pass& pass, const Linear& reader, const void* x, size_t rows, OperandRows operand,
                     size_t columns) {
  operand.columns = columns;
  if (is_fp32(pass)) return LinearInput(static_cast<const float*>(x));
  return input_from_bf16(pass, reader, static_cast<const Bf16*>(x), rows, operand);
}

// x = LN(input W^T + b + x): the residual is the query state.
void add_and_norm(const Pass& pass, const Linear& linear, const Norm& norm, const LinearInput& input,
                  const QueryRows& queries, const Linear* reader) {
  apply_linear(pass, linear, input, queries.rows, KernelActivation::kLinear,
               {.y = queries.x_ND, .residual = queries.x_ND});
  apply_norm(pass, norm,
             {.x = queries.x_ND,
              .rows = queries.rows,
              .columns = as_size(pass.config.hidden_size),
              .reader = reader,
              .operand = queries.operand});
}

// Everything behind attention, for rows `first` .. of the queries.
void finish_rows(const Pass& pass, const LayerWeights& layer, const QueryRows& queries, size_t first, size_t rows,
                 const Linear* next, const Workspace& space, const BlockBuffers& buffers) {
  const size_t hidden = as_size(pass.config.hidden_size);
  const size_t inner = as_size(pass.config.intermediate_size);
  QueryRows block{
      .x_ND = queries.x_ND + first * hidden, .operand = queries.operand.from(first, layer.up), .rows = rows};
  // Rows of `next` lie as close as its outliers are few: those of `up` would reach into the rows of other blocks.
  block.operand.side_TO = buffers.operand.side_TO;
  const std::byte* context = space.context_TD + first * pass.attention_stride(hidden) * pass.attention_element_bytes();
  add_and_norm(pass, layer.attention_output, layer.attention_norm,
               input_of(pass, layer.attention_output, context, rows, buffers.operand, hidden), block, &layer.up);
  apply_linear(pass, layer.up, LinearInput(block.x_ND, block.operand), rows, to_kernel(pass.config.hidden_act),
               output_to(pass, buffers.inner_RF));
  if (next != nullptr) block.operand = queries.operand.from(first, *next);
  add_and_norm(pass, layer.down, layer.output_norm,
               input_of(pass, layer.down, buffers.inner_RF, rows, buffers.operand, inner), block, next);
}

// Queries, keys and values have been projected.
void finish_layer(const Pass& pass, const LayerWeights& layer, const QueryRows& queries, const Linear* next,
                  const Workspace& space, const AttentionScoreOutputs& scores) {
  if (queries.rows == 0) return;
  attend(pass, layer, queries, space, scores);
  const size_t workers = pass.parallel.workers;
  const GemmBlocking blocking = gemm_blocking(pass.kernels, pass.weights.precision);
  if (queries.rows < workers * blocking.split_rows) {
    const size_t most = space.block_rows * workers;  // the buffers of all workers are one
    for (size_t first = 0; first < queries.rows; first += most) {
      const size_t rows = std::min(most, queries.rows - first);
      finish_rows(pass, layer, queries, first, rows, next, space, buffers_of(pass, space, 0));
    }
    return;
  }
  const size_t block_rows = equal_blocks(queries.rows, workers, blocking);
  const Pass one = pass.on_one_thread();
  parallel_for(pass.parallel, (queries.rows + block_rows - 1) / block_rows, [&](size_t task, size_t worker) {
    const size_t first = task * block_rows;
    const size_t rows = std::min(block_rows, queries.rows - first);
    finish_rows(one, layer, queries, first, rows, next, space, buffers_of(pass, space, worker));
  });
}

}  // namespace

AttentionParams base_attention(const Pass& pass, const Workspace& space) {
  const Batch& batch = pass.batch;
  AttentionParams p{};
  p.precision = attention_precision(pass.weights.precision);
  p.sequences = batch.sequences();
  p.heads = as_size(pass.config.num_attention_heads);
  p.head_size = as_size(pass.config.attention_head_size);
  p.starts = batch.starts.data();
  p.scale = 1 / std::sqrt(static_cast<double>(pass.config.attention_head_size * pass.config.attention_terms()));
  p.lut = pass.lut;
  p.relative_rows = as_size(2 * pass.config.span());
  if (!batch.given_buckets_LL.empty()) p.given_buckets_LS = batch.given_buckets_LL.data();
  p.given_stride = as_size(batch.given_length);
  if (!batch.mask_T.empty()) p.key_mask_T = batch.mask_T.data();
  p.masks_B = space.masks_B;
  const bool has_mask = p.key_mask_T != nullptr || p.masks_B != nullptr;  // else no row is empty
  p.averages_empty_rows = has_mask && pass.empty_rows == EmptyRows::kAverage;
  p.parallel = pass.parallel;
  return p;
}

void project_keys_values(const Pass& pass, const LayerWeights& layer, const Workspace& space) {
  project(pass, layer.key_value, LinearInput(space.hidden_TD, space.operand_TD), pass.batch.tokens(),
          part_of_qkv(pass, space, 1));
}

void query_layer(const Pass& pass, const LayerWeights& layer, const QueryRows& queries, const Linear* reader,
                 const Workspace& space) {
  project(pass, layer.query, LinearInput(queries.x_ND, queries.operand), queries.rows, part_of_qkv(pass, space, 0));
  finish_layer(pass, layer, queries, reader, space, {});
}

void encoder_layer(const Pass& pass, const LayerWeights& layer, const LayerWeights* next, const Workspace& space,
                   const AttentionScoreOutputs& scores) {
  const QueryRows all{.x_ND = space.hidden_TD,
                      .operand = space.operand_TD,
                      .rows = pass.batch.tokens(),
                      .mask_N = pass.batch.mask_T.empty() ? nullptr : pass.batch.mask_T.data()};
  project_keys_values(pass, layer, space);
  project(pass, layer.query, LinearInput(all.x_ND, all.operand), all.rows, part_of_qkv(pass, space, 0));
  finish_layer(pass, layer, all, next != nullptr ? &next->query : nullptr, space, scores);
}

}  // namespace deberta
