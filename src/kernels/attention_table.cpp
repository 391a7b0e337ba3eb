// Packing of relative tables.
#include "kernels/attention_table.h"

#include <algorithm>
#include <cstring>

#include "kernels/bf16.h"
#include "kernels/choice.h"

namespace deberta {
namespace {

constexpr size_t kUnit = 16;

RelativeTable shape_of(bool has_pairs, const RelativeTableParams& p) {
  return {.rows = p.rows,
          .head_size = p.head_size,
          .stride = (p.rows + kUnit - 1) / kUnit * kUnit + kUnit,
          .is_reversed = p.is_reversed,
          .has_pairs = has_pairs};
}

void pack_columns(const RelativeTable& table, const HeadRows<const float>& rows, size_t head, size_t begin, size_t end,
                  std::byte* out) {
  const float* of_column[kUnit];
  for (size_t column = begin; column < end; ++column) {
    const size_t row = table.is_reversed ? table.rows - 1 - column : column;
    of_column[column - begin] = rows.data + rows.offset(row, head);
  }
  if (table.has_pairs) {  // only for head sizes of whole vectors
    auto* pairs = reinterpret_cast<uint32_t*>(out);
    for (size_t k = 0; k < table.head_size; k += 2) {
      for (size_t column = begin; column < end; ++column) {
        const float* x = of_column[column - begin] + k;
        pairs[k / 2 * table.stride + column] = uint32_t{to_bf16(x[0])} | uint32_t{to_bf16(x[1])} << 16;
      }
    }
    return;
  }
  for (size_t k = 0; k < table.head_size; ++k) {
    for (size_t column = begin; column < end; ++column)
      reinterpret_cast<float*>(out)[k * table.stride + column] = of_column[column - begin][k];
  }
}

}  // namespace

KernelLevel attention_table_level(const KernelSet& kernels, Precision precision, size_t head_size) {
  return level_for_heads(usable_levels(), Operation::kAttention, precision,
                         kernels.level_of(Operation::kAttention, precision), head_size);
}

bool attention_table_has_pairs(const KernelSet& kernels, Precision precision, size_t head_size) {
  return implementation(attention_table_level(kernels, precision, head_size)).multiplies_pairs;
}

size_t attention_table_bytes(const KernelSet& kernels, const RelativeTableParams& params) {
  return attention_table_bytes(attention_table_has_pairs(kernels, params.precision, params.head_size), params);
}

size_t attention_table_bytes(bool has_pairs, const RelativeTableParams& params) {
  return shape_of(has_pairs, params).head_bytes() * params.heads;
}

RelativeTable attention_pack_table(const KernelSet& kernels, const RelativeTableParams& params,
                                   const HeadRows<const float>& rows, void* packed) {
  const OperationScope scope(kernels, {rows.data, packed});
  const bool has_pairs = attention_table_has_pairs(kernels, params.precision, params.head_size);
  return attention_pack_table(has_pairs, params, rows, packed);
}

RelativeTable attention_pack_table(bool has_pairs, const RelativeTableParams& params, const HeadRows<const float>& rows,
                                   void* packed) {
  RelativeTable table = shape_of(has_pairs, params);
  table.data = packed;
  parallel_for(params.parallel, params.heads, [&](size_t head, size_t) {
    std::byte* out = static_cast<std::byte*>(packed) + head * table.head_bytes();
    std::memset(out, 0, table.head_bytes());
    for (size_t begin = 0; begin < params.rows; begin += kUnit) {  // so few rows stay in the cache for all of K
      pack_columns(table, rows, head, begin, std::min(params.rows, begin + kUnit), out);
    }
  });
  return table;
}

}  // namespace deberta
