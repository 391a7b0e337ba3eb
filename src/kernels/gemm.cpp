// GEMM: argument checks, packing, the choice of implementation, blocking and the epilogue that all tiles share.
//   for each block of 96 rows: for each panel: for strips of 6 rows: tile in registers -> stack -> epilogue -> C
// A block of A stays in L2 while the panels stream through once.
#include "kernels/gemm.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "deberta/error.h"
#include "kernels/gemm_kernel.h"
#include "kernels/reference/reference.h"

namespace deberta {
namespace {

constexpr size_t kBlockRows = 96;
constexpr size_t kMaxTile = 6 * 64;

const GemmKernel* tile_kernel(KernelLevel level) {
#if DEBERTA_HAS_X86
  if (level == KernelLevel::kAvx512) return &gemm_avx512_kernel();
  if (level == KernelLevel::kAvx2) return &gemm_avx2_kernel();
#endif
  (void)level;
  return nullptr;
}

size_t panel_width(const KernelSet& kernels) {
  const GemmKernel* kernel = tile_kernel(kernels.level_of(Operation::kGemm));
  return kernel != nullptr ? kernel->panel_width : 1;
}

size_t panels_of(size_t outputs, size_t width) {
  return (outputs + width - 1) / width;
}

void require(bool is_right, const char* what) {
  if (!is_right) throw Error(ErrorCode::kInternal, "gemm", what);
}

void check_arguments(const GemmParams& p, size_t width) {
  require(p.a_MK != nullptr && p.c_MN != nullptr && p.weights.panels != nullptr, "a null pointer");
  require(p.weights.panel_width == width, "weights packed for another implementation");
  require(p.a_stride == 0 || p.a_stride >= p.weights.depth, "rows of a overlap");
  require(p.c_stride == 0 || p.c_stride >= p.weights.outputs, "rows of c overlap");
  if (p.head_size == 0) return;
  require(p.residual_MN == nullptr, "a residual with split heads");
  require(p.weights.outputs % p.head_size == 0, "outputs are not whole heads");
  require(p.head_stride >= p.rows * p.head_size, "heads overlap");
}

struct Span {
  size_t begin = 0;
  size_t end = 0;
};

// Epilogue of one row of a tile; `values` holds the sums of columns n .. n + count.
void store_row(const GemmParams& p, float* values, size_t row, size_t n, size_t count) {
  if (p.bias_N != nullptr) {
    for (size_t i = 0; i < count; ++i) values[i] += p.bias_N[n + i];
  }
  activate_row(p.activation, values, count);
  if (p.residual_MN != nullptr) {
    const float* residual = p.residual_MN + gemm_offset(p, row, n);
    for (size_t i = 0; i < count; ++i) values[i] += residual[i];
  }
  for (size_t i = 0; i < count;) {  // one run per head
    const size_t left = count - i;
    const size_t run = p.head_size == 0 ? left : std::min(left, p.head_size - (n + i) % p.head_size);
    std::copy_n(values + i, run, p.c_MN + gemm_offset(p, row, n + i));
    i += run;
  }
}

void compute_block(const GemmKernel& kernel, const GemmParams& p, Span rows, Span panels) {
  alignas(64) float tile[kMaxTile];
  const size_t width = kernel.panel_width;
  const size_t depth = p.weights.depth;
  const size_t a_stride = p.a_stride > 0 ? p.a_stride : depth;
  for (size_t panel = panels.begin; panel < panels.end; ++panel) {
    const size_t n = panel * width;
    const size_t columns = std::min(width, p.weights.outputs - n);
    for (size_t m = rows.begin; m < rows.end; m += kernel.max_rows) {
      const size_t strip = std::min(kernel.max_rows, rows.end - m);
      kernel.tile({p.a_MK + m * a_stride, a_stride, strip, depth, p.weights.panels + panel * depth * width, tile});
      for (size_t i = 0; i < strip; ++i) store_row(p, tile + i * width, m + i, n, columns);
    }
  }
}

// Many rows: a task is a block of rows. Few rows: a task is a panel. Never a part of K.
void run_tiles(const GemmKernel& kernel, const GemmParams& p) {
  const size_t panels = panels_of(p.weights.outputs, kernel.panel_width);
  const size_t blocks = (p.rows + kBlockRows - 1) / kBlockRows;
  const auto block = [&](size_t i) { return Span{i * kBlockRows, std::min(p.rows, (i + 1) * kBlockRows)}; };
  if (p.rows >= 64 * p.parallel.workers) {
    parallel_for(p.parallel, blocks, [&](size_t task, size_t) { compute_block(kernel, p, block(task), {0, panels}); });
    return;
  }
  parallel_for(p.parallel, panels, [&](size_t task, size_t) {
    for (size_t i = 0; i < blocks; ++i) compute_block(kernel, p, block(i), {task, task + 1});
  });
}

void run(KernelLevel level, const GemmParams& p) {
  const GemmKernel* kernel = tile_kernel(level);
  count_call(Operation::kGemm, level);
  if (kernel != nullptr) {
    run_tiles(*kernel, p);
    return;
  }
  parallel_for(p.parallel, p.rows, [&](size_t row, size_t) {
    for (size_t n = 0; n < p.weights.outputs; ++n) {
      p.c_MN[gemm_offset(p, row, n)] = static_cast<float>(reference_gemm(p, row, n));
    }
  });
}

// The reference goes first: the residual may be the output.
void run_checked(KernelLevel level, const GemmParams& p, KernelCheck& check) {
  const size_t columns = p.weights.outputs;
  std::vector<double> expected(p.rows * columns);
  for (size_t i = 0; i < expected.size(); ++i) expected[i] = reference_gemm(p, i / columns, i % columns);
  run(level, p);
  double worst = -1;
  size_t at = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(double{p.c_MN[gemm_offset(p, i / columns, i % columns)]} - expected[i]);
    if (difference <= worst) continue;  // a NaN is not less: it stays the worst
    worst = difference;
    at = i;
    if (std::isnan(difference)) break;
  }
  check.record(
      Operation::kGemm, worst,
      fmt::format("[M {}, N {}, K {}] row {} column {}", p.rows, columns, p.weights.depth, at / columns, at % columns));
}

}  // namespace

size_t gemm_packed_count(const KernelSet& kernels, size_t outputs, size_t depth) {
  const size_t width = panel_width(kernels);
  return panels_of(outputs, width) * width * depth;
}

PackedWeights gemm_pack(const KernelSet& kernels, const float* w_NK, size_t outputs, size_t depth, float* panels) {
  const size_t width = panel_width(kernels);
  for (size_t panel = 0; panel < panels_of(outputs, width); ++panel) {
    float* out_KW = panels + panel * depth * width;
    for (size_t w = 0; w < width; ++w) {
      const size_t n = panel * width + w;
      for (size_t k = 0; k < depth; ++k) out_KW[k * width + w] = n < outputs ? w_NK[n * depth + k] : 0.0f;
    }
  }
  return {panels, outputs, depth, width};
}

void gemm(const KernelSet& kernels, const GemmParams& params) {
  if (params.rows == 0 || params.weights.outputs == 0) return;
  const KernelLevel level = kernels.level_of(Operation::kGemm);
  check_arguments(params, panel_width(kernels));
  if (kernels.check != nullptr) {
    run_checked(level, params, *kernels.check);
  } else {
    run(level, params);
  }
}

}  // namespace deberta
