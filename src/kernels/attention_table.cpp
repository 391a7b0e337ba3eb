// Packing of relative tables.
#include "kernels/attention_table.h"

#include <algorithm>
#include <cstring>

#include "kernels/bf16.h"
#include "kernels/choice.h"
#include "kernels/processor.h"

namespace deberta {
namespace {

constexpr size_t kUnit = 16;

RelativeTable shape_of(const KernelSet& kernels, const RelativeTableParams& p) {
  return {.rows = p.rows,
          .head_size = p.head_size,
          .stride = (p.rows + kUnit - 1) / kUnit * kUnit + kUnit,
          .is_reversed = p.is_reversed,
          .has_pairs = attention_table_level(kernels, p.precision, p.head_size) > KernelLevel::kAvx512};
}

void pack_columns(const RelativeTable& table, const HeadRows<const float>& rows, size_t head, size_t begin, size_t end,
                  std::byte* out) {
  for (size_t k = 0; k < table.head_size; ++k) {
    for (size_t column = begin; column < end; ++column) {
      const size_t row = table.is_reversed ? table.rows - 1 - column : column;
      const float x = rows.data[rows.offset(row, head) + k];
      if (table.has_pairs) {
        reinterpret_cast<Bf16*>(out)[(k / 2 * table.stride + column) * 2 + k % 2] = to_bf16(x);
      } else {
        reinterpret_cast<float*>(out)[k * table.stride + column] = x;
      }
    }
  }
}

}  // namespace

KernelLevel attention_table_level(const KernelSet& kernels, Precision precision, size_t head_size) {
  if (head_size % kUnit != 0) return KernelLevel::kReference;
  const KernelLevel level = kernels.level_of(Operation::kAttention, precision);
  if (level <= KernelLevel::kAvx512 || head_size % (2 * kUnit) == 0) return level;
  return capped_level(usable_levels(), Operation::kAttention, precision, KernelLevel::kAvx512);
}

size_t attention_table_bytes(const KernelSet& kernels, const RelativeTableParams& params) {
  return shape_of(kernels, params).head_bytes() * params.heads;
}

RelativeTable attention_pack_table(const KernelSet& kernels, const RelativeTableParams& params,
                                   const HeadRows<const float>& rows, void* packed) {
  RelativeTable table = shape_of(kernels, params);
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
