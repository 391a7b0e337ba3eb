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

RelativeTable attention_pack_table(const KernelSet& kernels, const RelativeTableParams& params, const float* table_HRK,
                                   void* packed) {
  RelativeTable table = shape_of(kernels, params);
  table.data = packed;
  std::memset(packed, 0, table.head_bytes() * params.heads);
  for (size_t head = 0; head < params.heads; ++head) {
    const float* rows_RK = table_HRK + head * params.rows * params.head_size;
    std::byte* out = static_cast<std::byte*>(packed) + head * table.head_bytes();
    for (size_t k = 0; k < params.head_size; ++k) {
      for (size_t column = 0; column < params.rows; ++column) {
        const size_t row = params.is_reversed ? params.rows - 1 - column : column;
        const float x = rows_RK[row * params.head_size + k];
        if (table.has_pairs) {
          reinterpret_cast<Bf16*>(out)[(k / 2 * table.stride + column) * 2 + k % 2] = to_bf16(x);
        } else {
          reinterpret_cast<float*>(out)[k * table.stride + column] = x;
        }
      }
    }
  }
  return table;
}

}  // namespace deberta
