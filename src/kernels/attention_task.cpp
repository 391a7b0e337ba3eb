// Turns the params of a call into its tasks.
#include "kernels/attention_task.h"

#include <algorithm>
#include <numbers>

#include "kernels/operand.h"

namespace deberta {
namespace {

constexpr int64_t kWindow = 16;  // positions are taken in aligned windows

int64_t longest(const int32_t* starts, size_t sequences) {
  int64_t result = 0;
  for (size_t b = 0; b < sequences; ++b) result = std::max<int64_t>(result, starts[b + 1] - starts[b]);
  return result;
}

// Null where there is no data.
template <class Data>
Data* number_at(Precision precision, Data* data, size_t offset) {
  using Byte = std::conditional_t<std::is_const_v<Data>, const std::byte, std::byte>;
  return data == nullptr ? nullptr : static_cast<Byte*>(data) + offset * element_bytes(precision);
}

const void* table_of(const RelativeTable& table, bool has_term, size_t head) {
  return has_term ? static_cast<const std::byte*>(table.data) + head * table.head_bytes() : nullptr;
}

AttentionDropout dropout_of(const AttentionParams& p, size_t sequence, size_t head) {
  const PhiloxKey key = dropout_key(p.dropout);
  const PhiloxCounter counter = dropout_counter(p.dropout, static_cast<uint32_t>(sequence),
                                                static_cast<uint32_t>(p.heads), static_cast<uint32_t>(head), 0, 0);
  return {.threshold = p.dropout.threshold(),
          .scale = static_cast<float>(p.dropout.scale()),
          .key = {key[0], key[1]},
          .last_words = {counter[2], counter[3]}};
}

}  // namespace

int64_t end_of_attention_positions(const AttentionParams& p) {
  const int32_t* query_starts = query_starts_of(p);
  const int64_t end = std::max(longest(p.starts, p.sequences), longest(query_starts, p.sequences));
  const int32_t queries = query_starts[p.sequences];
  if (p.query_positions == nullptr || queries == 0) return end;
  return std::max(end, int64_t{*std::max_element(p.query_positions, p.query_positions + queries)} + 1);
}

AttentionExtent attention_extent(const AttentionParams& p) {
  AttentionExtent extent{};
  extent.keys = static_cast<size_t>(longest(p.starts, p.sequences));
  extent.positions = static_cast<size_t>((end_of_attention_positions(p) + kWindow - 1) / kWindow * kWindow);
  extent.head_size = p.head_size;
  extent.rows = p.lut != nullptr ? static_cast<size_t>(p.lut->rows()) : 0;
  extent.is_bf16 = p.precision == Precision::kBf16;
  return extent;
}

AttentionTask attention_task(const AttentionParams& p, size_t sequence, size_t head) {
  const int32_t* query_starts = query_starts_of(p);
  const auto query = static_cast<size_t>(query_starts[sequence]), key = static_cast<size_t>(p.starts[sequence]);
  AttentionTask t{};
  t.queries = length_of(query_starts, sequence);
  t.keys = length_of(p.starts, sequence);
  t.head_size = p.head_size;
  t.is_bf16 = p.precision == Precision::kBf16;
  t.q = number_at(p.precision, p.q.data, p.q.offset(query, head));
  t.k = number_at(p.precision, p.k.data, p.k.offset(key, head));
  t.v = number_at(p.precision, p.v.data, p.v.offset(key, head));
  t.out = number_at(p.precision, p.out.data, p.out.offset(query, head));
  t.q_stride = p.q.token_stride;
  t.k_stride = p.k.token_stride;
  t.v_stride = p.v.token_stride;
  t.out_stride = p.out.token_stride;
  t.last_position = static_cast<int64_t>(t.queries) - 1;
  if (p.query_positions != nullptr && t.queries > 0) {
    t.positions = p.query_positions + query;
    t.first_position = t.positions[0];
    t.last_position = t.positions[t.queries - 1];
  }
  t.kr = table_of(p.kr, p.has_c2p, head);
  t.qr = table_of(p.qr, p.has_p2c, head);
  if (t.kr != nullptr || t.qr != nullptr) {
    t.table_stride = p.has_c2p ? p.kr.stride : p.qr.stride;
    t.distances = {.row = p.lut->rows_from_0(),
                   .perm_q = p.lut->perms_q_from_0(),
                   .perm_k = p.lut->perms_k_from_0(),
                   .rows = p.lut->rows(),
                   .linear_limit = p.lut->linear_limit(),
                   .t_lo = p.lut->t_lo(),
                   .t_hi = p.lut->t_hi()};
  }
  t.scale = static_cast<float>(p.scale * std::numbers::log2e);
  if (p.query_mask_T != nullptr) t.query_mask = p.query_mask_T + query;
  if (p.key_mask_T != nullptr) t.key_mask = p.key_mask_T + key;
  if (p.masks_B != nullptr) t.mask = p.masks_B[sequence];
  t.is_causal = p.is_causal;
  t.dropout = dropout_of(p, sequence, head);
  if (p.lse_HT != nullptr) t.lse = p.lse_HT + head * static_cast<size_t>(query_starts[p.sequences]) + query;
  return t;
}

}  // namespace deberta
