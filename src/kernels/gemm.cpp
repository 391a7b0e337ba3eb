// GEMM: argument checks, the choice of implementation, blocking and the epilogue.
//   for each block of rows: for each panel: for strips of rows: tile in registers -> stack -> epilogue -> C
// A block of A stays in the second-level cache while the panels stream through once.
#include "kernels/gemm.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/gemm_layout.h"
#include "kernels/operand.h"
#include "kernels/profile.h"
#include "kernels/reference/reference.h"
#include "kernels/row_blocks.h"

namespace deberta {
namespace {

constexpr size_t kMaxTile = size_t{32} * 32;  // that of AMX; 6 x 64 is smaller
constexpr size_t kBehindTile = 16;  // a head may begin within a vector: the epilogue reads that far past the last row

void check_arguments(const GemmParams& p, KernelLevel level) {
  const PackedWeights& w = p.weights;
  require(Operation::kGemm, p.a_MK != nullptr && w.panels != nullptr && (p.c_MN != nullptr) != (p.c_bf16_MN != nullptr),
          "a null pointer");
  require(Operation::kGemm, w.level == level, "weights packed for another implementation");
  require(Operation::kGemm, p.a_stride == 0 || p.a_stride >= w.depth, "rows of a overlap");
  require(Operation::kGemm, p.c_stride == 0 || p.c_stride >= w.outputs, "rows of c overlap");
  if (w.precision == Precision::kInt8) {
    require(Operation::kGemm, p.a_scales_M != nullptr, "int8 without scales");
    require(Operation::kGemm, w.quantizer.outliers == 0 || p.a_outliers_MO != nullptr,
            "outlier columns without their values");
  }
  if (p.head_size == 0) return;
  require(Operation::kGemm, p.residual_MN == nullptr, "a residual with split heads");
  require(Operation::kGemm, w.outputs % p.head_size == 0, "outputs are not whole heads");
  require(Operation::kGemm, p.head_stride >= p.rows * p.head_size, "heads overlap");
}

struct Span {
  size_t begin = 0;
  size_t end = 0;
};

// One call: what all its tiles share.
struct Work {
  const GemmParams& p;
  const GemmKernel& kernel;
  PanelLayout layout;
  GemmFinishFunction finish;
  GemmFinish shared{};  // of the epilogue
  bool is_scalar = false;

  size_t tile_width() const { return layout.width * kernel.panels; }
  size_t tiles() const { return (p.weights.outputs + tile_width() - 1) / tile_width(); }
  const void* row_of_a(size_t m) const {
    const size_t stride = p.a_stride > 0 ? p.a_stride : p.weights.depth;
    return static_cast<const std::byte*>(p.a_MK) + m * stride * element_bytes(p.weights.precision);
  }
  const std::byte* panel(size_t index) const {
    return static_cast<const std::byte*>(p.weights.panels) + index * layout.panel_bytes();
  }
};

// What the epilogue of columns n .. n + count reads.
GemmFinish operands(const Work& work, const void* sums, Span rows, size_t n, size_t count) {
  const GemmParams& p = work.p;
  GemmFinish f = work.shared;
  f.tile_MW = sums;
  f.tile_stride = work.tile_width();
  f.rows = rows.end - rows.begin;
  f.columns = count;
  if (p.bias_N != nullptr) f.bias_N = p.bias_N + n;
  if (f.compensation_N == nullptr) return f;
  f.compensation_N += n;
  f.w_scales_N += n;
  f.a_scales_M = p.a_scales_M + rows.begin;
  if (f.outliers > 0) {
    f.side_a_MO = p.a_outliers_MO + rows.begin * f.outliers;
    f.side_w_ON += n;
  }
  return f;
}

// Columns that lie in one run of the output (one head).
void finish_run(const Work& work, const void* sums, Span rows, size_t n, size_t count) {
  const GemmParams& p = work.p;
  GemmFinish f = operands(work, sums, rows, n, count);
  const size_t at = gemm_offset(p, rows.begin, n);
  if (p.residual_MN != nullptr) f.residual_MN = p.residual_MN + at;
  if (p.c_MN != nullptr) f.c_MN = p.c_MN + at;
  if (p.c_bf16_MN != nullptr) f.c_bf16_MN = p.c_bf16_MN + at;
  f.c_stride = f.residual_stride = gemm_offset(p, rows.begin + 1, n) - at;
  work.finish(f);
}

void store(const GemmParams& p, size_t row, size_t n, float y) {
  const size_t at = gemm_offset(p, row, n);
  if (p.c_MN != nullptr) p.c_MN[at] = y;
  if (p.c_bf16_MN != nullptr) p.c_bf16_MN[at] = to_bf16(y);
}

// Activations without a vector form: sums and bias to fp32, then element by element.
void finish_scalar(const Work& work, const void* sums, Span rows, size_t n, size_t count) {
  const GemmParams& p = work.p;
  alignas(64) float values[kMaxTile];
  GemmFinish f = operands(work, sums, rows, n, count);
  f.c_MN = values;
  f.c_stride = work.tile_width();
  work.finish(f);
  for (size_t m = rows.begin; m < rows.end; ++m) {
    float* values_N = values + (m - rows.begin) * f.c_stride;
    activate_row(p.activation, values_N, count);
    for (size_t i = 0; i < count; ++i) {
      const float residual = p.residual_MN != nullptr ? p.residual_MN[gemm_offset(p, m, n + i)] : 0;
      store(p, m, n + i, values_N[i] + residual);
    }
  }
}

void finish_tile(const Work& work, const float* sums, Span rows, size_t n, size_t columns) {
  if (work.is_scalar) return finish_scalar(work, sums, rows, n, columns);
  const size_t head_size = work.p.head_size;
  for (size_t i = 0; i < columns;) {
    const size_t left = columns - i;
    const size_t run = head_size == 0 ? left : std::min(left, head_size - (n + i) % head_size);
    finish_run(work, sums + i, rows, n + i, run);  // int32 sums have the same size
    i += run;
  }
}

// `tiles` counts columns of tiles: one panel or several.
void compute_block(const Work& work, Span rows, Span tiles) {
  alignas(64) float sums[kMaxTile + kBehindTile];
  const GemmKernel& kernel = work.kernel;
  const size_t width = work.tile_width();
  const size_t strips = (rows.end - rows.begin + kernel.max_rows - 1) / kernel.max_rows;
  const size_t share = kernel.panels * work.layout.panel_bytes() / strips;  // of the next tile's panels, read ahead
  const size_t stride = work.p.a_stride > 0 ? work.p.a_stride : work.p.weights.depth;
  if (kernel.begin != nullptr) kernel.begin();
  for (size_t tile = tiles.begin; tile < tiles.end; ++tile) {
    const size_t n = tile * width;
    const size_t columns = std::min(width, work.p.weights.outputs - n);
    const std::byte* panel = work.panel(tile * kernel.panels);
    const std::byte* next = work.panel((tile + 1) * kernel.panels);  // past the last one a prefetch is harmless
    for (size_t m = rows.begin; m < rows.end; m += kernel.max_rows, next += share) {
      const size_t strip = std::min(kernel.max_rows, rows.end - m);
      kernel.tile({.a_MK = work.row_of_a(m),
                   .a_stride = stride,
                   .rows = strip,
                   .groups = work.layout.groups,
                   .depth = work.p.weights.depth,
                   .panel = panel,
                   .panels = work.layout.panels(columns),
                   .tile_MW = sums,
                   .next = next,
                   .next_bytes = share});
      finish_tile(work, sums, {m, m + strip}, n, columns);
    }
  }
  if (kernel.end != nullptr) kernel.end();
}

Work make_work(const GemmKernel& kernel, KernelLevel level, const GemmParams& p) {
  const PackedWeights& w = p.weights;
  Work work{.p = p, .kernel = kernel, .layout = PanelLayout(w.precision, level, w.depth), .finish = nullptr};
#if DEBERTA_HAS_X86
  work.finish = level < KernelLevel::kAvx512 ? gemm_finish_avx2() : gemm_finish_avx512();
#endif
  work.shared.activation = vector_activation(p.activation);
  work.is_scalar = !is_vector_activation(p.activation);
  if (w.precision != Precision::kInt8) return work;
  work.shared.compensation_N = w.compensation_N;
  work.shared.w_scales_N = w.scales_N;
  work.shared.side_w_ON = w.outliers_ON;
  work.shared.side_stride = w.outputs;
  work.shared.outliers = w.quantizer.outliers;
  return work;
}

// Many rows: a task is a block of rows. Few rows: a task is a column of tiles. Never a part of K.
void run_tiles(const GemmKernel& kernel, KernelLevel level, const GemmParams& p) {
  const Work work = make_work(kernel, level, p);
  const size_t tiles = work.tiles();
  const bool by_rows = p.rows >= kernel.split_rows * p.parallel.workers;
  const GemmBlocking blocking{kernel.max_rows, kernel.block_rows, kernel.split_rows};
  const size_t block_rows = by_rows ? equal_blocks(p.rows, p.parallel.workers, blocking) : kernel.block_rows;
  const size_t blocks = (p.rows + block_rows - 1) / block_rows;
  const auto block = [&](size_t i) { return Span{i * block_rows, std::min(p.rows, (i + 1) * block_rows)}; };
  if (by_rows) {
    parallel_for(p.parallel, blocks, [&](size_t task, size_t) { compute_block(work, block(task), {0, tiles}); });
    return;
  }
  parallel_for(p.parallel, tiles, [&](size_t task, size_t) {
    for (size_t i = 0; i < blocks; ++i) compute_block(work, block(i), {task, task + 1});
  });
}

void run(KernelLevel level, const GemmParams& p) {
  count_call(Operation::kGemm, level, p.weights.precision);
  if (const GemmKernel* kernel = gemm_kernel(p.weights.precision, level)) return run_tiles(*kernel, level, p);
  parallel_for(p.parallel, p.rows, [&](size_t row, size_t) {
    for (size_t n = 0; n < p.weights.outputs; ++n) store(p, row, n, static_cast<float>(reference_gemm(p, row, n)));
  });
}

double result(const GemmParams& p, size_t row, size_t n) {
  const size_t at = gemm_offset(p, row, n);
  return double{p.c_MN != nullptr ? p.c_MN[at] : from_bf16(p.c_bf16_MN[at])};
}

// The reference goes first: the residual may be the output.
void run_checked(KernelLevel level, const GemmParams& p, KernelCheck& check) {
  const size_t columns = p.weights.outputs;
  std::vector<double> expected(p.rows * columns);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = reference_gemm(p, i / columns, i % columns);
  run(level, p);
  const WorstElement worst = find_worst(p.rows, columns, [&](size_t row, size_t column) {
    return result(p, row, column) - expected[row * columns + column];
  });
  check.record(Operation::kGemm, worst.difference,
               fmt::format("{}, [M {}, N {}, K {}] row {} column {}", to_string(p.weights.precision), p.rows, columns,
                           p.weights.depth, worst.row, worst.column));
}

}  // namespace

const GemmKernel* gemm_kernel(Precision precision, KernelLevel level) {
#if DEBERTA_HAS_X86
  const bool is_bf16 = precision == Precision::kBf16;
  const bool is_fp32 = precision == Precision::kFp32;
  switch (level) {
    case KernelLevel::kReference:
      return nullptr;
    case KernelLevel::kAvx2:
      return is_fp32   ? &gemm_fp32_avx2_kernel()
             : is_bf16 ? &gemm_bf16_as_fp32_avx2_kernel()
                       : &gemm_int8_as_int16_avx2_kernel();
    case KernelLevel::kAvxVnni:
      return &gemm_int8_avxvnni_kernel();
    case KernelLevel::kAvx512:
      return is_fp32   ? &gemm_fp32_avx512_kernel()
             : is_bf16 ? &gemm_bf16_as_fp32_avx512_kernel()
                       : &gemm_int8_as_int16_avx512_kernel();
    case KernelLevel::kAvx512Vnni:
      return &gemm_int8_avx512vnni_kernel();
    case KernelLevel::kAvx512Bf16:
      return &gemm_bf16_avx512bf16_kernel();
    case KernelLevel::kAmx:
      return is_bf16 ? &gemm_amx_kernels().bf16 : &gemm_amx_kernels().int8;
  }
#endif
  (void)precision, (void)level;
  return nullptr;
}

GemmBlocking gemm_blocking(const KernelSet& kernels, Precision precision) {
  const GemmKernel* kernel = gemm_kernel(precision, kernels.level_of(Operation::kGemm, precision));
  if (kernel == nullptr) return {};
  return {.strip_rows = kernel->max_rows, .block_rows = kernel->block_rows, .split_rows = kernel->split_rows};
}

size_t equal_blocks(size_t rows, size_t workers, const GemmBlocking& blocking) {
  const size_t each = (rows + workers - 1) / workers;
  const size_t blocks = (each + blocking.block_rows - 1) / blocking.block_rows;
  const size_t strips = ((each + blocks - 1) / blocks + blocking.strip_rows - 1) / blocking.strip_rows;
  return std::min(strips * blocking.strip_rows, blocking.block_rows);
}

void gemm(const KernelSet& kernels, const GemmParams& params) {
  if (params.rows == 0 || params.weights.outputs == 0) return;
  const KernelLevel level = kernels.level_of(Operation::kGemm, params.weights.precision);
  check_arguments(params, level);
  const PackedWeights& w = params.weights;
  const ProfileTimer timer(
      {.operation = Operation::kGemm, .precision = w.precision, .outputs = w.outputs, .depth = w.depth},
      {.rows = params.rows, .workers = params.parallel.workers});
  if (kernels.check != nullptr) {
    run_checked(level, params, *kernels.check);
  } else {
    run(level, params);
  }
}

}  // namespace deberta
