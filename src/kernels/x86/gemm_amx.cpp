// bf16 and int8 GEMM with AMX: 32 rows x 2 panels of 16 columns, 2 x 2 accumulators. A step is 64 bytes of k: 32
// bf16 or 64 int8 of A's rows against 16 rows of each panel (64 bytes each in both formats: a tile of a panel is 1 KB
// in one piece). Only intrinsics, C headers and types here (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <string.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/amx_tiles.inc.h"

namespace deberta {
namespace {

constexpr size_t kStep = kAmxRows * kTileBytes;  // bytes of a panel in a step
constexpr int kResultStride = 2 * kTileBytes;    // bytes between rows of the result

void begin() {
  configure_tiles();
}

void end() {
  _tile_release();
}

// A's rows as bytes; the last step, when K ends within it, is a padded copy.
struct Rows {
  const char* data;
  size_t stride;
};

struct Source {
  Rows rows;
  Rows tail;
  size_t steps;  // whole ones
  bool has_tail;
};

Source make_source(const GemmTile& t, size_t element, char* padded) {
  const size_t row_bytes = t.depth * element;
  Source s = {.rows = {.data = static_cast<const char*>(t.a_MK), .stride = t.a_stride * element},
              .tail = {.data = padded, .stride = kTileBytes},
              .steps = row_bytes / kTileBytes,
              .has_tail = row_bytes % kTileBytes != 0};
  if (!s.has_tail) return s;
  memset(padded, 0, t.rows * kTileBytes);
  for (size_t m = 0; m < t.rows; ++m) {
    memcpy(padded + m * kTileBytes, s.rows.data + m * s.rows.stride + s.steps * kTileBytes, row_bytes % kTileBytes);
  }
  return s;
}

struct Bf16 {
  static constexpr size_t kElement = 2;
};
struct Int8 {
  static constexpr size_t kElement = 1;
};

// The tiles are numbers in the instruction: c += a b.
#define DEBERTA_DOT(Format, c, a, b)   \
  if constexpr (Format::kElement == 2) \
    _tile_dpbf16ps(c, a, b);           \
  else                                 \
    _tile_dpbusd(c, a, b)

// Rows of A are used once before they would leave the first-level cache, so they are read past it: the block of k of
// both panels, which all rows share, stays there.
template <class Format, bool kSecondRows, bool kSecondPanel>
inline void step(Rows a, const char* first, const char* second) {
  _tile_stream_loadd(4, a.data, a.stride);
  if constexpr (kSecondRows) _tile_stream_loadd(5, a.data + kAmxRows * a.stride, a.stride);
  _tile_loadd(6, first, kTileBytes);
  DEBERTA_DOT(Format, 0, 4, 6);
  if constexpr (kSecondRows) {
    DEBERTA_DOT(Format, 2, 5, 6);
  }
  if constexpr (kSecondPanel) {
    _tile_loadd(7, second, kTileBytes);
    DEBERTA_DOT(Format, 1, 4, 7);
    if constexpr (kSecondRows) {
      DEBERTA_DOT(Format, 3, 5, 7);
    }
  }
}

// What is read ahead into the second-level cache, an even share in each step.
class Ahead {
 public:
  Ahead(const GemmTile& t, const Source& s)
      : panels_(static_cast<const char*>(t.next)),
        panel_stride_(t.next_stride),
        lines_(t.next_bytes / kTileBytes),
        rows_{static_cast<const char*>(t.next_rows), s.rows.stride},
        rows_count_(t.next_rows_count) {
    if (s.steps > 0) per_step_ = (lines_ + s.steps - 1) / s.steps;
  }
  void operator()() {
    for (size_t i = 0; i < per_step_ && lines_ > 0; ++i, --lines_, panels_ += kTileBytes) {
      __builtin_prefetch(panels_, 0, 2);
      __builtin_prefetch(panels_ + panel_stride_, 0, 2);
    }
    if (rows_count_ == 0) return;
    for (size_t m = 0; m < rows_count_; ++m) __builtin_prefetch(rows_.data + m * rows_.stride, 0, 2);
    rows_.data += kTileBytes;
  }

 private:
  const char* panels_;
  size_t panel_stride_, lines_, per_step_ = 0;
  Rows rows_;
  size_t rows_count_;
};

// The epilogue of the tile before, some rows in each step: the vector units compute it while the products go on.
class Beside {
 public:
  Beside(const GemmTile& t, size_t steps) : tile_(t) {
    if (t.beside == nullptr) return;
    left_ = t.beside->rows;
    per_step_ = (left_ + 4 * steps - 1) / (4 * steps) * 4;  // fours are fast
  }
  void operator()() {
    if (left_ == 0) return;
    const size_t count = left_ < per_step_ ? left_ : per_step_, begin = tile_.beside->rows - left_;
    tile_.finish(*tile_.beside, begin, begin + count);
    left_ -= count;
  }

 private:
  const GemmTile& tile_;
  size_t left_ = 0, per_step_ = 0;
};

template <bool kSecondRows, bool kSecondPanel>
void begin_sums(const GemmTile& t) {
  const char* sums = static_cast<const char*>(t.tile_MW);
  const char* lower = sums + kAmxRows * kResultStride;
  if (t.adds) {
    _tile_loadd(0, sums, kResultStride);
    if (kSecondPanel) _tile_loadd(1, sums + kTileBytes, kResultStride);
    if (kSecondRows) _tile_loadd(2, lower, kResultStride);
    if (kSecondRows && kSecondPanel) _tile_loadd(3, lower + kTileBytes, kResultStride);
    return;
  }
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

template <bool kSecondRows, bool kSecondPanel>
void store_sums(const GemmTile& t) {
  char* sums = static_cast<char*>(t.tile_MW);
  char* lower = sums + kAmxRows * kResultStride;
  _tile_stored(0, sums, kResultStride);
  if (kSecondPanel) _tile_stored(1, sums + kTileBytes, kResultStride);
  if (kSecondRows) _tile_stored(2, lower, kResultStride);
  if (kSecondRows && kSecondPanel) _tile_stored(3, lower + kTileBytes, kResultStride);
}

template <class Format, bool kSecondRows, bool kSecondPanel>
void tile_of(const GemmTile& t, const Source& s) {
  const char* first = static_cast<const char*>(t.panel);
  const char* second = first + t.panel_stride;
  const size_t steps = s.steps + (s.has_tail ? 1 : 0);
  Ahead read_ahead(t, s);
  Beside finish_beside(t, steps);
  begin_sums<kSecondRows, kSecondPanel>(t);
  for (size_t i = 0; i < steps; ++i, first += kStep, second += kStep) {
    const Rows a = i < s.steps ? Rows{s.rows.data + i * kTileBytes, s.rows.stride} : s.tail;
    step<Format, kSecondRows, kSecondPanel>(a, first, second);
    read_ahead();
    finish_beside();
  }
  store_sums<kSecondRows, kSecondPanel>(t);
}

template <class Format>
void tile(const GemmTile& t) {
  alignas(64) char padded[2 * kAmxRows * kTileBytes];
  const Source s = make_source(t, Format::kElement, padded);
  const bool has_second = t.rows > kAmxRows;
  const bool is_whole = t.rows == 2 * kAmxRows;
  if (!is_whole) configure_tiles(has_second ? kAmxRows : t.rows, has_second ? t.rows - kAmxRows : kAmxRows);
  if (t.panels == 2) {
    has_second ? tile_of<Format, true, true>(t, s) : tile_of<Format, false, true>(t, s);
  } else {
    has_second ? tile_of<Format, true, false>(t, s) : tile_of<Format, false, false>(t, s);
  }
  if (!is_whole) configure_tiles();
}

template <class Format>
constexpr GemmKernel kKernelOf = {.panel_width = kAmxRows,
                                  .panels = 2,
                                  .group = 4 / Format::kElement,
                                  .unit = kTileBytes / Format::kElement,
                                  .max_rows = 2 * kAmxRows,
                                  .row_unit = 2 * kAmxRows,
                                  .block_rows = 256,
                                  .split_rows = 192,
                                  .block_groups = 16 * kAmxRows,  // 32 KB of both panels
                                  .block_tiles = 12,
                                  .kept_bytes = size_t{1} << 20,
                                  .runs_beside = true,
                                  .begin = begin,
                                  .end = end,
                                  .wide_number = 0,
                                  .widen = nullptr,
                                  .tile = tile<Format>};
constexpr GemmAmxKernels kKernels = {.bf16 = kKernelOf<Bf16>, .int8 = kKernelOf<Int8>};

}  // namespace

const GemmAmxKernels& gemm_amx_kernels() {
  return kKernels;
}

}  // namespace deberta
