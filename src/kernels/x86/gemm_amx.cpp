// bf16 and int8 GEMM with AMX: 32 rows x 2 panels of 16 columns, 2 x 2 accumulators. A step is 64 bytes of k: 32
// bf16 or 64 int8 of A's rows against 16 rows of each panel (64 bytes each in both formats: a tile of a panel is 1 KB
// in one piece). Only intrinsics, C headers and types here (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <string.h>

#include "kernels/gemm_kernel.h"
#include "kernels/x86/amx_tiles.inc.h"

namespace deberta {
namespace {

constexpr size_t kStep = kTileRows * kTileBytes;  // bytes of a panel in a step
constexpr size_t kAhead = 2 * kStep;              // prefetched into the first-level cache
constexpr int kResultStride = 2 * kTileBytes;     // bytes between rows of the result

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

inline void prefetch_step(const char* panel) {
  for (size_t i = 0; i < kTileRows; ++i) __builtin_prefetch(panel + kAhead + i * kTileBytes);
}

// The next step's.
inline void prefetch_rows(Rows a) {
  for (size_t i = 0; i < kTileRows; ++i) __builtin_prefetch(a.data + kTileBytes + i * a.stride);
}

template <class Format, bool kSecondRows, bool kSecondPanel>
inline void step(Rows a, const char* first, const char* second) {
  prefetch_step(first);
  _tile_loadd(6, first, kTileBytes);
  _tile_loadd(4, a.data, a.stride);
  prefetch_rows(a);
  DEBERTA_DOT(Format, 0, 4, 6);
  if constexpr (kSecondPanel) {
    prefetch_step(second);
    _tile_loadd(7, second, kTileBytes);
    DEBERTA_DOT(Format, 1, 4, 7);
  }
  if constexpr (kSecondRows) {
    const Rows lower = {a.data + kTileRows * a.stride, a.stride};
    _tile_loadd(5, lower.data, lower.stride);
    prefetch_rows(lower);
    DEBERTA_DOT(Format, 2, 5, 6);
    if constexpr (kSecondPanel) {
      DEBERTA_DOT(Format, 3, 5, 7);
    }
  }
}

template <class Format, bool kSecondRows, bool kSecondPanel>
void tile_of(const GemmTile& t, const Source& s) {
  const char* first = static_cast<const char*>(t.panel);
  const char* second = first + t.groups * kTileBytes;
  const char* next = static_cast<const char*>(t.next);
  const size_t lines = s.steps > 0 ? t.next_bytes / kTileBytes / s.steps : 0;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (size_t i = 0; i < s.steps; ++i, first += kStep, second += kStep) {
    for (size_t line = 0; line < lines; ++line, next += kTileBytes) __builtin_prefetch(next, 0, 2);
    step<Format, kSecondRows, kSecondPanel>({s.rows.data + i * kTileBytes, s.rows.stride}, first, second);
  }
  if (s.has_tail) step<Format, kSecondRows, kSecondPanel>(s.tail, first, second);
  char* out = static_cast<char*>(t.tile_MW);
  _tile_stored(0, out, kResultStride);
  if (kSecondPanel) _tile_stored(1, out + kTileBytes, kResultStride);
  if (kSecondRows) _tile_stored(2, out + kTileRows * kResultStride, kResultStride);
  if (kSecondRows && kSecondPanel) _tile_stored(3, out + kTileRows * kResultStride + kTileBytes, kResultStride);
}

template <class Format>
void tile(const GemmTile& t) {
  alignas(64) char padded[2 * kTileRows * kTileBytes];
  const Source s = make_source(t, Format::kElement, padded);
  const bool has_second = t.rows > kTileRows;
  const bool is_whole = t.rows == 2 * kTileRows;
  if (!is_whole) configure_tiles(has_second ? kTileRows : t.rows, has_second ? t.rows - kTileRows : kTileRows);
  if (t.panels == 2) {
    has_second ? tile_of<Format, true, true>(t, s) : tile_of<Format, false, true>(t, s);
  } else {
    has_second ? tile_of<Format, true, false>(t, s) : tile_of<Format, false, false>(t, s);
  }
  if (!is_whole) configure_tiles();
}

template <class Format>
constexpr GemmKernel kKernelOf = {.panel_width = kTileRows,
                                  .panels = 2,
                                  .group = 4 / Format::kElement,
                                  .unit = kTileBytes / Format::kElement,
                                  .max_rows = 2 * kTileRows,
                                  .block_rows = 256,
                                  .split_rows = 192,
                                  .begin = begin,
                                  .end = end,
                                  .tile = tile<Format>};
constexpr GemmAmxKernels kKernels = {.bf16 = kKernelOf<Bf16>, .int8 = kKernelOf<Int8>};

}  // namespace

const GemmAmxKernels& gemm_amx_kernels() {
  return kKernels;
}

}  // namespace deberta
