// Convolution: argument checks, packing, and the rows gathered for GEMM.
//   many rows: each worker gathers blocks of 96 rows and multiplies them
//   few rows:  one gather, one GEMM over all workers
#include "kernels/convolution.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "kernels/reference/reference.h"
#include "kernels/row_blocks.h"

namespace deberta {
namespace {

constexpr size_t kBlockRows = 96;
constexpr size_t kFewRows = 64;  // for each worker

bool runs_reference(const KernelSet& kernels) {
  return kernels.level_of(Operation::kConvolution) == KernelLevel::kReference;
}

size_t depth_of(const ConvolutionShape& shape) {
  return shape.columns / shape.groups * shape.width;
}

size_t group_bytes(const KernelSet& kernels, const ConvolutionShape& shape) {
  const WeightSource source{.outputs = shape.columns / shape.groups, .depth = depth_of(shape)};
  return gemm_packed_bytes(kernels, Precision::kFp32, source);
}

// Rows a multiple of 4096 bytes apart fall into one set of the first-level cache.
size_t gathered_stride(const ConvolutionShape& shape) {
  const size_t depth = depth_of(shape);
  return depth % 1024 == 0 ? depth + 16 : depth;
}

// Rows that one gather holds: all of them when they are few.
size_t rows_at_once(size_t rows, size_t workers) {
  return rows < kFewRows * workers ? rows : std::min(rows, kBlockRows);
}

struct RowRange {
  size_t begin = 0;
  size_t end = 0;
};

RowRange sequence_of(const ConvolutionParams& p, size_t row) {
  const int32_t* after = std::upper_bound(p.starts, p.starts + p.sequences + 1, static_cast<int32_t>(row));
  return {static_cast<size_t>(after[-1]), static_cast<size_t>(*after)};
}

bool is_masked(const ConvolutionParams& p, size_t row) {
  return p.mask_T != nullptr && p.mask_T[row] == 0;
}

// The W rows around `row`, their columns of one group; zeros beyond the sequence and for holes.
void gather_row(const ConvolutionParams& p, size_t row, size_t group, float* gathered_WC) {
  const RowRange sequence = sequence_of(p, row);
  const size_t side = (p.shape.width - 1) / 2;
  const size_t part = p.shape.columns / p.shape.groups;
  for (size_t w = 0; w < p.shape.width; ++w, gathered_WC += part) {
    const size_t from = row + w;  // plus `side`
    if (from < sequence.begin + side || from >= sequence.end + side || is_masked(p, from - side)) {
      std::fill_n(gathered_WC, part, 0.0F);
    } else {
      std::copy_n(p.x_TD + (from - side) * p.shape.columns + group * part, part, gathered_WC);
    }
  }
}

void multiply(const KernelSet& kernels, const ConvolutionParams& p, RowRange rows, float* scratch,
              const Parallel& parallel) {
  const size_t part = p.shape.columns / p.shape.groups;
  const size_t stride = gathered_stride(p.shape);
  for (size_t group = 0; group < p.shape.groups; ++group) {
    for (size_t row = rows.begin; row < rows.end; ++row) {
      gather_row(p, row, group, scratch + (row - rows.begin) * stride);
    }
    GemmParams gemm_params{};
    gemm_params.a_MK = scratch;
    gemm_params.a_stride = stride;
    gemm_params.rows = rows.end - rows.begin;
    gemm_params.weights = p.packed_G[group];
    gemm_params.bias_N = p.bias_D + group * part;
    gemm_params.activation = p.activation;
    gemm_params.c_MN = p.y_TD + rows.begin * p.shape.columns + group * part;
    gemm_params.c_stride = p.shape.columns;
    gemm_params.role = ProductRole::kConvolution;
    gemm_params.parallel = parallel;
    gemm(kernels, gemm_params);
  }
  const auto zero = static_cast<float>(activate(p.activation, 0));
  for (size_t row = rows.begin; row < rows.end; ++row) {
    if (is_masked(p, row)) std::fill_n(p.y_TD + row * p.shape.columns, p.shape.columns, zero);
  }
}

void run(const KernelSet& kernels, const ConvolutionParams& p, size_t rows) {
  count_call(Operation::kConvolution, kernels.level_of(Operation::kConvolution));
  if (runs_reference(kernels)) {
    parallel_for(p.parallel, rows, [&](size_t row, size_t) {
      const RowRange sequence = sequence_of(p, row);
      reference_convolution(p, row, sequence.begin, sequence.end);
    });
    return;
  }
  const size_t block = rows_at_once(rows, p.parallel.workers);
  if (block == rows) return multiply(kernels, p, {0, rows}, p.scratch, p.parallel);
  const size_t scratch_of_worker = block * gathered_stride(p.shape);
  parallel_for(p.parallel, (rows + block - 1) / block, [&](size_t task, size_t worker) {
    multiply(kernels, p, {task * block, std::min(rows, (task + 1) * block)}, p.scratch + worker * scratch_of_worker,
             serial());
  });
}

void run_checked(const KernelSet& kernels, const ConvolutionParams& p, size_t rows) {
  run(kernels, p, rows);
  const size_t columns = p.shape.columns;
  std::vector<float> expected(rows * columns);
  ConvolutionParams reference = p;
  reference.y_TD = expected.data();
  for (size_t row = 0; row < rows; ++row) {
    const RowRange sequence = sequence_of(p, row);
    reference_convolution(reference, row, sequence.begin, sequence.end);
  }
  const WorstElement worst = find_worst(expected, columns, p.y_TD, columns);
  kernels.check->record(
      Operation::kConvolution, worst.difference,
      fmt::format("[T {}, D {}, W {}] row {} column {}", rows, columns, p.shape.width, worst.row, worst.column));
}

}  // namespace

size_t convolution_packed_bytes(const KernelSet& kernels, const ConvolutionShape& shape) {
  return runs_reference(kernels) ? 0 : shape.groups * group_bytes(kernels, shape);
}

size_t convolution_scratch_count(const KernelSet& kernels, const ConvolutionShape& shape, size_t rows, size_t workers) {
  if (runs_reference(kernels)) return 0;
  const size_t block = rows_at_once(rows, workers);
  return (block == rows ? 1 : workers) * block * gathered_stride(shape);
}

std::vector<PackedWeights> convolution_pack(const KernelSet& kernels, const ConvolutionShape& shape,
                                            const float* weight_DGW, void* memory) {
  if (runs_reference(kernels)) return {};
  const size_t part = shape.columns / shape.groups;
  const size_t depth = depth_of(shape);
  std::vector<float> weight_NK(part * depth);  // one group, k = w * part + c
  std::vector<PackedWeights> packed;
  for (size_t group = 0; group < shape.groups; ++group) {
    const float* from = weight_DGW + group * part * depth;
    for (size_t n = 0; n < part; ++n) {
      for (size_t c = 0; c < part; ++c) {
        for (size_t w = 0; w < shape.width; ++w) weight_NK[n * depth + w * part + c] = *from++;
      }
    }
    std::byte* panels = static_cast<std::byte*>(memory) + group * group_bytes(kernels, shape);
    packed.push_back(gemm_pack(kernels, Precision::kFp32, {weight_NK.data(), part, depth}, panels));
  }
  return packed;
}

void convolution(const KernelSet& kernels, const ConvolutionParams& params) {
  if (params.sequences == 0) return;
  require(Operation::kConvolution, params.starts != nullptr, "a null pointer");
  const auto rows = static_cast<size_t>(params.starts[params.sequences]);
  if (rows == 0) return;
  const OperationScope scope(
      kernels, {params.x_TD, params.mask_T, params.weight_DGW, params.scratch, params.bias_D, params.y_TD});
  const bool is_reference = runs_reference(kernels);
  require(Operation::kConvolution, params.x_TD != nullptr && params.bias_D != nullptr && params.y_TD != nullptr,
          "a null pointer");
  require(Operation::kConvolution, params.shape.width % 2 == 1, "an even width");
  require(Operation::kConvolution, params.shape.groups > 0 && params.shape.columns % params.shape.groups == 0,
          "groups that do not divide the columns");
  require(Operation::kConvolution, is_reference || (params.packed_G != nullptr && params.scratch != nullptr),
          "a null pointer");
  require(Operation::kConvolution, params.weight_DGW != nullptr || (!is_reference && kernels.check == nullptr),
          "a null pointer");
  if (kernels.check != nullptr) {
    run_checked(kernels, params, rows);
  } else {
    run(kernels, params, rows);
  }
}

}  // namespace deberta
