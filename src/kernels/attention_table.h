// Kr and Qr of one layer, laid out once at load for the implementation that will read them: transposed, so that a
// vector is neighbouring rows; Kr with its rows reversed, so that they grow with the key. The reference reads the same
// layouts.
// H heads  K head size  R relative rows
#pragma once
#include <cstddef>

#include "base/parallel.h"
#include "deberta/precision.h"
#include "kernels/dispatch.h"

namespace deberta {

// Row of token (or table row) t and head h: K numbers, the first at t * token_stride + h * head_stride, in the call's
// precision.
template <class Data>
struct HeadRows {
  Data* data = nullptr;
  size_t token_stride = 0;
  size_t head_stride = 0;
  size_t offset(size_t token, size_t head) const { return token * token_stride + head * head_stride; }
};

// fp32 [H][K][stride], or bf16 pairs [H][K / 2][stride][2]; columns are rows of the table.
struct RelativeTable {
  const void* data = nullptr;
  size_t rows = 0;  // R
  size_t head_size = 0;
  size_t stride = 0;  // R rounded up to 16 and 16 more: off powers of two, and vectors may start at the last row
  bool is_reversed = false;
  bool has_pairs = false;

  bool has_data() const { return data != nullptr; }
  // Bytes from one head to the next.
  size_t head_bytes() const { return head_size * stride * (has_pairs ? 2 : 4); }
};

struct RelativeTableParams {
  Precision precision = Precision::kFp32;  // precision of the attention that will read it
  size_t heads = 0;
  size_t head_size = 0;
  size_t rows = 0;
  bool is_reversed = false;  // Kr
  Parallel parallel = serial();
};

size_t attention_table_bytes(const KernelSet& kernels, const RelativeTableParams& params);
size_t attention_table_bytes(bool has_pairs, const RelativeTableParams& params);

// Into `packed`, 64-byte aligned.
RelativeTable attention_pack_table(const KernelSet& kernels, const RelativeTableParams& params,
                                   const HeadRows<const float>& rows, void* packed);
// For an implementation that is not the one of `kernels`.
RelativeTable attention_pack_table(bool has_pairs, const RelativeTableParams& params, const HeadRows<const float>& rows,
                                   void* packed);

// The best implementation for heads of this size, whatever else a call asks for, and whether it reads pairs.
KernelLevel attention_table_level(const KernelSet& kernels, Precision precision, size_t head_size);
bool attention_table_has_pairs(const KernelSet& kernels, Precision precision, size_t head_size);

}  // namespace deberta
