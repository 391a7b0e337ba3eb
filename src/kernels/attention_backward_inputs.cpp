// Copies of bf16 inputs in fp32, dense: [rows][heads * head size].
#include "kernels/attention_backward_inputs.h"

#include <algorithm>

#include "base/arena.h"

namespace deberta {
namespace {

using Params = AttentionBackwardParams;

size_t copy_bytes(const Params& p, size_t rows) {
  return Arena::bytes_for<float>(rows * p.heads * p.head_size);
}

// Moves `memory` behind the copy.
template <class Number, class Change>
HeadRows<const float> copied(const Params& p, const HeadRows<const Number>& from, size_t rows, std::byte*& memory,
                             const Change& change) {
  auto* to = reinterpret_cast<float*>(memory);
  memory += copy_bytes(p, rows);
  const size_t columns = p.heads * p.head_size;
  if (from.data == nullptr) return {nullptr, columns, p.head_size};
  parallel_for(p.parallel, p.heads, [&](size_t head, size_t) {
    for (size_t row = 0; row < rows; ++row) {
      const Number* from_K = from.data + from.offset(row, head);
      std::transform(from_K, from_K + p.head_size, to + row * columns + head * p.head_size, change);
    }
  });
  return {to, columns, p.head_size};
}

size_t keys_of(const Params& p) {
  return static_cast<size_t>(p.starts[p.sequences]);
}
size_t queries_of(const Params& p) {
  return static_cast<size_t>((p.query_starts != nullptr ? p.query_starts : p.starts)[p.sequences]);
}

}  // namespace

bool has_rounded_tables(const KernelSet& kernels, const Params& p) {
  return p.precision == Precision::kBf16 && (p.kr.data != nullptr || p.qr.data != nullptr) &&
         attention_table_has_pairs(kernels, p.precision, p.head_size);
}

size_t rounded_tables_bytes(const Params& params) {
  return 2 * copy_bytes(params, params.relative_rows);
}

Params with_rounded_tables(const Params& params, void* memory) {
  auto* at = static_cast<std::byte*>(memory);
  const auto round = [](float x) { return from_bf16(to_bf16(x)); };
  Params rounded = params;
  rounded.kr = copied(params, params.kr, params.relative_rows, at, round);
  rounded.qr = copied(params, params.qr, params.relative_rows, at, round);
  return rounded;
}

size_t widened_inputs_bytes(const Params& params) {
  return copy_bytes(params, queries_of(params)) + 2 * copy_bytes(params, keys_of(params));
}

Params with_widened_inputs(const Params& params, void* memory) {
  auto* at = static_cast<std::byte*>(memory);
  Params wide = params;
  wide.precision = Precision::kFp32;
  wide.q = copied(params, params.q_bf16, queries_of(params), at, from_bf16);
  wide.k = copied(params, params.k_bf16, keys_of(params), at, from_bf16);
  wide.v = copied(params, params.v_bf16, keys_of(params), at, from_bf16);
  return wide;
}

}  // namespace deberta
