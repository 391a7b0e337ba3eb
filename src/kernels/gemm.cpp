// GEMM: argument checks, the choice of implementation, blocking and the epilogue.
//   for each block of rows: for a few panels: for each block of k: for each of the panels: for strips of rows:
//     tile in registers -> sums on the stack; behind the last block of k: epilogue -> C
// With AMX the epilogue of a strip runs beside the tile that follows: vector units and tiles compute at the same time.
// A block of A stays in the second-level cache while the panels stream through once; while a block of a panel is
// multiplied, the next one is read into that cache. The panels share what is done to a block of A: widening.
#include "kernels/gemm.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kernels/gemm_layout.h"
#include "kernels/implementations.h"
#include "kernels/operand.h"
#include "kernels/profile.h"
#include "kernels/reference/reference.h"
#include "kernels/row_blocks.h"

namespace deberta {
namespace {

constexpr size_t kMaxTile = size_t{32} * 32;  // that of AMX; 6 x 64 is smaller
constexpr size_t kMaxRows = 96;               // in a block that is widened
// Sums of a block of rows and of the tiles that pass a block of k together (AMX).
constexpr size_t kMaxSums = size_t{256} * 32 * 12;
constexpr size_t kStripsThatKeep = 4;  // a widened panel: with fewer, writing it takes longer than it saves
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
  size_t size() const { return end - begin; }
};

// One call: what all its tiles share.
struct Work {
  const GemmParams& p;
  const GemmKernel& kernel;
  PanelLayout layout;
  GemmFinishFunction finish;
  GemmFinish shared{};  // what every epilogue of the call reads
  bool is_scalar = false;

  size_t tile_width() const { return layout.width * kernel.panels; }
  size_t tiles() const { return (p.weights.outputs + tile_width() - 1) / tile_width(); }
  size_t a_stride() const { return p.a_stride > 0 ? p.a_stride : p.weights.depth; }
  size_t a_row_bytes() const { return p.weights.depth * element_bytes(p.weights.precision); }
  const void* group_of_a(size_t m, size_t group) const {
    const size_t element = m * a_stride() + group * layout.group;
    return static_cast<const std::byte*>(p.a_MK) + element * element_bytes(p.weights.precision);
  }
  bool widens() const { return kernel.widen != nullptr; }
  // Groups of k in a block; the blocks are about equal.
  size_t block_groups() const {
    if (kernel.block_groups == 0 || layout.groups == 0) return layout.groups;
    const size_t unit = kernel.unit / kernel.group;
    const size_t blocks = (layout.groups + kernel.block_groups - 1) / kernel.block_groups;
    return ((layout.groups + blocks - 1) / blocks + unit - 1) / unit * unit;
  }
  const std::byte* panel(size_t index) const {
    return static_cast<const std::byte*>(p.weights.panels) + index * layout.panel_bytes();
  }
};

// Columns of tiles that pass a block of k before the next, for rows of so many bytes.
size_t tiles_together(const GemmKernel& kernel, size_t a_bytes) {
  return a_bytes > kernel.kept_bytes ? kernel.block_tiles : 1;
}

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
GemmFinish run_of(const Work& work, const void* sums, Span rows, size_t n, size_t count) {
  const GemmParams& p = work.p;
  GemmFinish f = operands(work, sums, rows, n, count);
  const size_t at = gemm_offset(p, rows.begin, n);
  if (p.residual_MN != nullptr) f.residual_MN = p.residual_MN + at;
  if (p.c_MN != nullptr) f.c_MN = p.c_MN + at;
  if (p.c_bf16_MN != nullptr) f.c_bf16_MN = p.c_bf16_MN + at;
  f.c_stride = f.residual_stride = gemm_offset(p, rows.begin + 1, n) - at;
  return f;
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
  work.finish(f, 0, f.rows);
  for (size_t m = rows.begin; m < rows.end; ++m) {
    float* values_N = values + (m - rows.begin) * f.c_stride;
    activate_row(p.activation, values_N, count);
    for (size_t i = 0; i < count; ++i) {
      const float residual = p.residual_MN != nullptr ? p.residual_MN[gemm_offset(p, m, n + i)] : 0;
      store(p, m, n + i, values_N[i] + residual);
    }
  }
}

size_t run_length(const Work& work, size_t n, size_t columns) {
  const size_t head_size = work.p.head_size;
  return head_size == 0 ? columns : std::min(columns, head_size - n % head_size);
}

void finish_tile(const Work& work, const float* sums, Span rows, size_t n, size_t columns) {
  if (work.is_scalar) return finish_scalar(work, sums, rows, n, columns);
  for (size_t i = 0; i < columns;) {
    const size_t run = run_length(work, n + i, columns - i);
    work.finish(run_of(work, sums + i, rows, n + i, run), 0, rows.size());  // int32 sums have the same size
    i += run;
  }
}

// On a thread's stack: half a megabyte, so only where the kernel widens.
struct WideScratch {
  alignas(64) std::byte rows[kMaxRows * kGemmBlockBytes];
  alignas(64) std::byte panel[64 * kGemmBlockBytes];
};
struct Scratch {
  alignas(64) float sums[kMaxSums + kBehindTile];
  GemmFinish due;  // the epilogue of the strip before, where it runs beside the next one
  bool is_due = false;
  WideScratch* wide = nullptr;
};

// What is read after a block: panels that lie a stride apart; null if that is not known.
struct Ahead {
  const std::byte* panels = nullptr;
  size_t stride = 0;
};

// A block of k of some rows and a column of tiles, one of those that pass the block together.
struct Block {
  Span rows;
  Span groups;
  Span tiles;
  size_t tile = 0;
  Ahead next;
};

// What the strips of a block's rows share.
GemmTile tile_of(const Work& work, const Block& block, size_t strips, Scratch& scratch) {
  const PanelLayout& layout = work.layout;
  const size_t first_k = block.groups.begin * layout.group;
  GemmTile t{};
  t.a_stride = work.widens() ? kGemmBlockBytes / work.kernel.wide_number : work.a_stride();
  t.groups = block.groups.size();
  t.depth = std::min(work.p.weights.depth - first_k, block.groups.size() * layout.group);
  t.panel = work.panel(block.tile * work.kernel.panels) + block.groups.begin * layout.group_bytes();
  t.panels = layout.panels(std::min(work.tile_width(), work.p.weights.outputs - block.tile * work.tile_width()));
  t.panel_stride = layout.panel_bytes();
  t.wide_panel = work.widens() && strips >= kStripsThatKeep ? scratch.wide->panel : nullptr;
  t.adds = block.groups.begin > 0;
  t.next_stride = block.next.stride;
  t.next_bytes = block.next.panels != nullptr ? block.groups.size() * layout.group_bytes() / strips : 0;
  return t;
}

// Rows of a strip whose next block of k is read ahead beside this column of tiles: each column has its share.
void set_next_rows(const Work& work, const Block& block, size_t m, GemmTile& t) {
  const size_t tiles = block.tiles.size(), tile = block.tile - block.tiles.begin;
  if (block.groups.end == work.layout.groups) return;
  const Span rows{t.rows * tile / tiles, t.rows * (tile + 1) / tiles};
  t.next_rows = work.group_of_a(m + rows.begin, block.groups.end);
  t.next_rows_count = rows.size();
}

// The epilogue that is due runs beside the tile.
void compute_tile(const Work& work, GemmTile& t, Scratch& scratch) {
  t.beside = scratch.is_due ? &scratch.due : nullptr;
  t.finish = work.finish;
  work.kernel.tile(t);
  scratch.is_due = false;
}

// A tile's epilogue: later, beside the next tile, where the kernel can do that and the columns lie in one piece.
void finish_or_wait(const Work& work, const float* sums, Span rows, size_t n, size_t columns, Scratch& scratch) {
  const bool waits = work.kernel.runs_beside && !work.is_scalar && run_length(work, n, columns) == columns;
  if (!waits) return finish_tile(work, sums, rows, n, columns);
  scratch.due = run_of(work, sums, rows, n, columns);
  scratch.is_due = true;
}

// All strips of a block's rows; behind the last block of k the epilogue.
void compute_strips(const Work& work, const Block& block, float* sums_MW, Scratch& scratch) {
  const GemmKernel& kernel = work.kernel;
  const size_t n = block.tile * work.tile_width();
  const size_t columns = std::min(work.tile_width(), work.p.weights.outputs - n);
  const size_t rows = block.rows.size();
  const size_t strips = (rows + kernel.max_rows - 1) / kernel.max_rows;
  const size_t units = (rows + kernel.row_unit - 1) / kernel.row_unit;
  const auto first_row = [&](size_t strip) { return std::min(units * strip / strips * kernel.row_unit, rows); };
  const bool is_last = block.groups.end == work.layout.groups;
  const bool is_whole = is_last && block.groups.begin == 0;  // then the sums of a strip are needed no longer than it
  GemmTile t = tile_of(work, block, strips, scratch);
  for (size_t strip = 0; strip < strips; ++strip) {
    const size_t at = first_row(strip), m = block.rows.begin + at;
    float* sums = sums_MW + (is_whole ? 0 : at * work.tile_width());
    t.a_MK = work.widens() ? scratch.wide->rows + at * kGemmBlockBytes : work.group_of_a(m, block.groups.begin);
    t.rows = first_row(strip + 1) - at;
    t.is_first = strip == 0;
    t.tile_MW = sums;
    t.next = block.next.panels + strip * t.next_bytes;
    if (block.tiles.size() > 1) set_next_rows(work, block, m, t);
    compute_tile(work, t, scratch);
    if (is_last) finish_or_wait(work, sums, {m, m + t.rows}, n, columns, scratch);
  }
}

// `tiles` counts columns of tiles: one panel or several. `after` is what this thread is likely to read next.
void compute_tiles(const Work& work, Span rows, Span tiles, Ahead after, Scratch& scratch) {
  const GemmKernel& kernel = work.kernel;
  const size_t each = work.block_groups();
  for (size_t group = 0; group < work.layout.groups; group += each) {
    Block block{};
    block.rows = rows;
    block.groups = {group, std::min(work.layout.groups, group + each)};
    block.tiles = tiles;
    if (work.widens()) {
      kernel.widen({.a_MK = work.group_of_a(rows.begin, 0),
                    .a_stride = work.a_stride(),
                    .rows = rows.size(),
                    .first = group,
                    .groups = block.groups.size(),
                    .wide_MK = scratch.wide->rows});
    }
    for (block.tile = tiles.begin; block.tile < tiles.end; ++block.tile) {
      const bool is_last = block.tile + 1 == tiles.end;
      const size_t next_group = is_last ? block.groups.end : group;
      const std::byte* next_panel = work.panel((is_last ? tiles.begin : block.tile + 1) * kernel.panels);
      block.next = after;
      if (next_group < work.layout.groups)
        block.next = {next_panel + next_group * work.layout.group_bytes(), work.layout.panel_bytes()};
      float* sums_MW = scratch.sums + (block.tile - tiles.begin) * rows.size() * work.tile_width();
      compute_strips(work, block, sums_MW, scratch);
    }
  }
}

void compute_groups(const Work& work, Span rows, Span tiles, Ahead after, WideScratch* wide) {
  Scratch scratch;  // sums need no value
  scratch.wide = wide;
  const GemmKernel& kernel = work.kernel;
  const size_t together = tiles_together(kernel, rows.size() * work.a_row_bytes());
  if (kernel.begin != nullptr) kernel.begin();
  for (size_t tile = tiles.begin; tile < tiles.end; tile += together) {
    const size_t end = std::min(tiles.end, tile + together);
    const Ahead next{.panels = work.panel(end * kernel.panels), .stride = work.layout.panel_bytes()};
    compute_tiles(work, rows, {tile, end}, end < tiles.end ? next : after, scratch);
  }
  if (kernel.end != nullptr) kernel.end();
  if (scratch.is_due) work.finish(scratch.due, 0, scratch.due.rows);
}

// Never inline: its stack would be that of every call.
[[gnu::noinline]] void compute_wide(const Work& work, Span rows, Span tiles, Ahead after) {
  WideScratch wide;
  compute_groups(work, rows, tiles, after, &wide);
}

void compute_block(const Work& work, Span rows, Span tiles, Ahead after) {
  work.widens() ? compute_wide(work, rows, tiles, after) : compute_groups(work, rows, tiles, after, nullptr);
}

Work make_work(const GemmKernel& kernel, KernelLevel level, const GemmParams& p) {
  const PackedWeights& w = p.weights;
  Work work{.p = p,
            .kernel = kernel,
            .layout = PanelLayout(w.precision, level, w.depth),
            .finish = kernel_of(level, &ImplementationRow::finish)->finish};
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

// Tasks of neighbouring columns of tiles, equally many for each thread.
struct Columns {
  const PackedWeights& weights;
  PanelLayout layout;
  size_t panels;  // in a column of tiles
  size_t tiles, tasks;

  Columns(const GemmKernel& kernel, const PackedWeights& w, size_t block_rows, size_t workers)
      : weights(w), layout(w.precision, w.level, w.depth), panels(kernel.panels) {
    tiles = (layout.panels(w.outputs) + panels - 1) / panels;
    const size_t each = (tiles + workers - 1) / workers;
    const size_t together = tiles_together(kernel, block_rows * w.depth * element_bytes(w.precision));
    const size_t pieces = (each + together - 1) / together;  // share blocks of k
    tasks = std::min(tiles, pieces * workers);
  }
  size_t first_tile(size_t task) const { return task * tiles / tasks; }
  Ahead first_panels(size_t task) const {
    const auto* all = static_cast<const std::byte*>(weights.panels);
    return {all + first_tile(task) * panels * layout.panel_bytes(), layout.panel_bytes()};
  }
};

// Where the product that follows begins, for the worker that takes a task of it.
Ahead begin_of_next(const GemmParams& p, size_t block_rows, size_t task) {
  if (p.next == nullptr || p.next->panels == nullptr) return {};
  const GemmKernel* kernel = kernel_of(p.next->level, &ImplementationRow::gemm, p.next->precision);
  if (kernel == nullptr) return {};
  const Columns next(*kernel, *p.next, block_rows, p.parallel.workers);
  return task < next.tasks ? next.first_panels(task) : Ahead{};
}

// Workers take tasks in turn, roughly.
void run_columns(const Work& work, const GemmBlocking& blocking) {
  const GemmParams& p = work.p;
  const size_t block_rows = equal_blocks(p.rows, 1, blocking);
  const Columns columns(work.kernel, p.weights, block_rows, p.parallel.workers);
  parallel_for(p.parallel, columns.tasks, [&](size_t task, size_t) {
    const size_t then = task + p.parallel.workers;
    const Ahead after =
        then < columns.tasks ? columns.first_panels(then) : begin_of_next(p, block_rows, then - columns.tasks);
    const Span tiles{columns.first_tile(task), columns.first_tile(task + 1)};
    for (size_t row = 0; row < p.rows; row += block_rows) {
      const size_t end = std::min(p.rows, row + block_rows);
      compute_block(work, {row, end}, tiles, end == p.rows ? after : columns.first_panels(task));
    }
  });
}

// Many rows: a task is a block of rows. Few rows: a task is some columns of tiles. Never a part of K.
void run_tiles(const GemmKernel& kernel, KernelLevel level, const GemmParams& p) {
  const Work work = make_work(kernel, level, p);
  const GemmBlocking blocking{kernel.max_rows, kernel.block_rows, kernel.split_rows};
  if (p.rows < kernel.split_rows * p.parallel.workers) return run_columns(work, blocking);
  const size_t block_rows = equal_blocks(p.rows, p.parallel.workers, blocking);
  parallel_for(p.parallel, (p.rows + block_rows - 1) / block_rows, [&](size_t task, size_t) {
    const Span rows{task * block_rows, std::min(p.rows, (task + 1) * block_rows)};
    compute_block(work, rows, {0, work.tiles()}, begin_of_next(p, block_rows, 0));
  });
}

void run(KernelLevel level, const GemmParams& p) {
  count_call(Operation::kGemm, level, p.weights.precision);
  const GemmKernel* kernel = kernel_of(level, &ImplementationRow::gemm, p.weights.precision);
  if (kernel != nullptr) return run_tiles(*kernel, level, p);
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

GemmBlocking gemm_blocking(const KernelSet& kernels, Precision precision) {
  const KernelLevel level = kernels.level_of(Operation::kGemm, precision);
  const GemmKernel* kernel = kernel_of(level, &ImplementationRow::gemm, precision);
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
  const OperationScope scope(kernels, {params.a_MK, params.a_scales_M, params.a_outliers_MO, params.weights.panels,
                                       params.bias_N, params.residual_MN, params.c_MN, params.c_bf16_MN});
  const KernelLevel level = kernels.level_of(Operation::kGemm, params.weights.precision);
  check_arguments(params, level);
  const PackedWeights& w = params.weights;
  const ProfileTimer timer({.operation = Operation::kGemm,
                            .precision = w.precision,
                            .outputs = w.outputs,
                            .depth = w.depth,
                            .role = params.role},
                           {.rows = params.rows, .workers = params.parallel.workers});
  if (kernels.check != nullptr) {
    run_checked(level, params, *kernels.check);
  } else {
    run(level, params);
  }
}

}  // namespace deberta
