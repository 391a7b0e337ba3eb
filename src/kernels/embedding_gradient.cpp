// Tokens sorted by (id, t) as one number each; tasks are pieces of that order, moved to where an id begins.
#include "kernels/embedding_gradient.h"

#include <algorithm>

#include "base/arena.h"
#include "kernels/row_blocks.h"

namespace deberta {
namespace {

constexpr size_t kPiece = 32;  // tokens of a task, about

uint64_t key_of(int32_t id, size_t token) {
  return static_cast<uint64_t>(id) << 32 | token;
}
uint64_t id_of(uint64_t key) {
  return key >> 32;
}

void check_arguments(const EmbeddingGradientParams& p) {
  require(Operation::kEmbedding,
          p.ids_T != nullptr && p.dx_TE != nullptr && p.table_VE != nullptr && p.scratch != nullptr,
          "a null pointer in embedding_gradient");
  const bool has_all = std::all_of(p.ids_T, p.ids_T + p.tokens,
                                   [&](int32_t id) { return id >= 0 && static_cast<size_t>(id) < p.table_rows; });
  require(Operation::kEmbedding, has_all, "an id outside the table in embedding_gradient");
}

// The first token at or behind `at` whose id begins there.
size_t next_begin(const uint64_t* keys, size_t count, size_t at) {
  while (at > 0 && at < count && id_of(keys[at]) == id_of(keys[at - 1])) ++at;
  return std::min(at, count);
}

void add_row(const RowKernel* kernel, const EmbeddingGradientParams& p, uint64_t key) {
  const float* dx_E = p.dx_TE + static_cast<size_t>(key & 0xFFFFFFFF) * p.columns;
  float* row_E = p.table_VE + id_of(key) * p.columns;
  if (kernel != nullptr) {
    return kernel->sum({.rows = {row_E, dx_E}, .formats = {}, .count = 2, .x_E = row_E, .columns = p.columns});
  }
  for (size_t e = 0; e < p.columns; ++e) row_E[e] += dx_E[e];
}

}  // namespace

size_t embedding_gradient_scratch_bytes(size_t tokens) {
  return Arena::bytes_for<uint64_t>(tokens);
}

void embedding_gradient(const KernelSet& kernels, const EmbeddingGradientParams& params) {
  if (params.tokens == 0) return;
  check_arguments(params);
  auto* keys = static_cast<uint64_t*>(params.scratch);
  size_t count = 0;
  for (size_t t = 0; t < params.tokens; ++t) {
    if (params.ids_T[t] != params.skipped_id) keys[count++] = key_of(params.ids_T[t], t);
  }
  std::sort(keys, keys + count);
  const RowKernel* kernel = kernel_of(kernels.level_of(Operation::kEmbedding), &ImplementationRow::rows);
  parallel_for(params.parallel, (count + kPiece - 1) / kPiece, [&](size_t task, size_t) {
    const size_t end = next_begin(keys, count, (task + 1) * kPiece);
    for (size_t i = next_begin(keys, count, task * kPiece); i < end; ++i) add_row(kernel, params, keys[i]);
  });
}

}  // namespace deberta
