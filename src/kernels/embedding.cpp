// Embedding: argument checks, the choice of implementation, the rows to fetch ahead.
#include "kernels/embedding.h"

#include <fmt/core.h>

#include <vector>

#include "kernels/profile.h"
#include "kernels/reference/reference.h"
#include "kernels/row_blocks.h"

namespace deberta {
namespace {

constexpr size_t kAhead = 8;  // rows of the word table: they lie anywhere in hundreds of megabytes
constexpr size_t kLineBytes = 64;

size_t element_bytes(TableFormat format) {
  return format == TableFormat::kF32 ? sizeof(float) : sizeof(uint16_t);
}

const std::byte* row_of(const EmbeddingTable& table, size_t row, size_t columns) {
  return static_cast<const std::byte*>(table.data) + row * columns * element_bytes(table.format);
}

void fetch_ahead(const EmbeddingParams& p, size_t token) {
  if (token + kAhead >= p.tokens) return;
  const std::byte* row = row_of(p.word, static_cast<size_t>(p.ids_T[token + kAhead]), p.columns);
  const size_t size_bytes = p.columns * element_bytes(p.word.format);
  for (size_t at = 0; at < size_bytes; at += kLineBytes) __builtin_prefetch(row + at);
}

void sum_rows(const RowKernel& kernel, const EmbeddingParams& p, size_t token) {
  SumRow sum{};
  const auto append = [&](const EmbeddingTable& table, const int32_t* ids_T) {
    if (table.rows == 0) return;
    const size_t id = ids_T != nullptr ? static_cast<size_t>(ids_T[token]) : 0;
    sum.rows[sum.count] = row_of(table, id, p.columns);
    sum.formats[sum.count++] = static_cast<int>(table.format);
  };
  append(p.word, p.ids_T);
  append(p.type, p.type_ids_T);
  append(p.position, p.position_ids_T);
  sum.x_E = p.x_TE + token * (p.x_stride > 0 ? p.x_stride : p.columns);
  sum.columns = p.columns;
  fetch_ahead(p, token);
  kernel.sum(sum);
}

void run(KernelLevel level, const EmbeddingParams& p) {
  const RowKernel* kernel = kernel_of(level, &ImplementationRow::rows);
  count_call(Operation::kEmbedding, level);
  for_each_row(p.parallel, p.tokens, p.columns, [&](size_t token) {
    if (kernel != nullptr) return sum_rows(*kernel, p, token);
    reference_embedding(p, token);
  });
}

void run_checked(KernelLevel level, const EmbeddingParams& p, KernelCheck& check) {
  run(level, p);
  std::vector<float> expected(p.tokens * p.columns);
  EmbeddingParams reference = p;
  reference.x_TE = expected.data();
  reference.x_stride = p.columns;
  for (size_t token = 0; token < p.tokens; ++token) reference_embedding(reference, token);
  const WorstElement worst = find_worst(expected, p.columns, p.x_TE, p.x_stride > 0 ? p.x_stride : p.columns);
  check.record(Operation::kEmbedding, worst.difference,
               fmt::format("[T {}, E {}] row {} column {}", p.tokens, p.columns, worst.row, worst.column));
}

}  // namespace

void embedding(const KernelSet& kernels, const EmbeddingParams& params) {
  if (params.tokens == 0) return;
  const OperationScope scope(kernels, {params.word.data, params.type.data, params.position.data, params.ids_T,
                                       params.type_ids_T, params.position_ids_T, params.x_TE});
  require(Operation::kEmbedding,
          params.ids_T != nullptr && params.x_TE != nullptr && params.word.data != nullptr && params.word.rows > 0 &&
              (params.position.rows == 0 || params.position_ids_T != nullptr),
          "a null pointer");
  const ProfileTimer timer(
      {.operation = Operation::kEmbedding, .precision = Precision::kFp32, .outputs = params.columns},
      {.rows = params.tokens, .workers = params.parallel.workers});
  const KernelLevel level = kernels.level_of(Operation::kEmbedding);
  if (kernels.check != nullptr) {
    run_checked(level, params, *kernels.check);
  } else {
    run(level, params);
  }
}

}  // namespace deberta
