// GEMM tiles of 6 rows and kVectors vectors of columns, in every number format; included by gemm_*.cpp after
// vectors_<isa>.inc.h. Traffic per step of k: kVectors loads from the panel (streams from L2 or L3), 6 broadcasts from
// A (L1). A format says how its numbers are multiplied:
//   InPlace<Fp32>              fp32
//   InPlace<Bf16Pairs>         bf16 with AVX512_BF16 (register_tile_bf16.inc.h)
//   InPlace<Bytes<add_bytes>>  int8 with VNNI: one vpdpbusd takes four k (u8 x s8, sums in int32)
//   Bf16AsFp32                 bf16 widened, A and panel once for all rows: half the bytes of fp32, not half the time
//   Int8AsInt16                int8 widened: weights lie as s16 pairs, the bytes of A are widened once for some panels
#include "kernels/x86/register_tile.inc.h"

namespace deberta {
namespace {

constexpr size_t kVectors = kLanes / 4;  // 2 with AVX2, 4 with AVX-512
constexpr size_t kWidth = kVectors * kLanes;
constexpr size_t kMaxRows = 6;
constexpr size_t kBlockPacks = kGemmBlockBytes / 4;  // packs of k in a row of a

// Reads the next panel ahead until this strip's share has been read. Where a step multiplies a line of the panel, at an
// even pace, else a line or two a step. If there is one strip, which has no time to hide it, every fourth line.
struct Ahead {
  static constexpr size_t kLine = 64;
  const char* next;
  const char* end;
  size_t read = kLine, stride = kLine;  // bytes that a reading step reads, and advances
  size_t mask = 0, step = 0;            // steps without these bits read

  Ahead(const GemmTile& t, size_t steps) : next(static_cast<const char*>(t.next)), end(next + t.next_bytes) {
    const size_t share = t.next_bytes / steps;
    if (share > 2 * kLine) {
      stride = share;
    } else if (share > kLine) {
      read = stride = 2 * kLine;
    }
    while (kIsPaced && 2 * (mask + 1) * share <= kLine && mask < steps) mask = 2 * mask + 1;
  }
  void operator()() {
    if (kIsPaced && (step++ & mask) != 0) return;
    if (next >= end) return;
    for (size_t at = 0; at < read; at += kLine) __builtin_prefetch(next + at, 0, 2);
    next += stride;
  }

 private:
  static constexpr bool kIsPaced = kWidth * sizeof(float) <= kLine;
};

template <size_t kRows>
inline void begin_sums(const GemmTile& t, Vector (&sums)[kRows][kVectors]) {
  t.adds ? load_sums(sums, static_cast<const float*>(t.tile_MW), kWidth) : clear(sums);
}

template <class Product, size_t kRows>
inline void multiply_block(const GemmTile& t, const void* panel, size_t steps) {
  Vector sums[kRows][kVectors];
  begin_sums(t, sums);
  add_products<Product>(sums, static_cast<const typename Product::Number*>(t.a_MK), t.a_stride,
                        static_cast<const float*>(panel), kWidth, steps, Ahead(t, steps));
  store_sums(sums, static_cast<float*>(t.tile_MW), kWidth);
}

// Packs are multiplied as they lie.
template <class Product>
struct InPlace {
  static constexpr size_t kPack = Product::kPack, kUnit = kPack, kWideNumber = 0, kBlockGroups = kBlockPacks;
  static constexpr void (*kWiden)(const GemmWiden&) = nullptr;

  template <size_t kRows>
  static void rows(const GemmTile& t) {
    multiply_block<Product, kRows>(t, t.panel, t.groups);
  }
};

// kAdd: the instruction, by instruction set.
template <void (*kAdd)(Vector& sum, Vector left, Vector right)>
struct Bytes {
  using Number = uint8_t;
  static constexpr size_t kPack = 4;
  static Vector broadcast(const uint8_t* a) { return broadcast_bits(a); }
  static void add(Vector& sum, Vector left, Vector right) { kAdd(sum, left, right); }
};

void widen_bf16(const GemmWiden& w) {
  for (size_t m = 0; m < w.rows; ++m) {
    const uint16_t* from = static_cast<const uint16_t*>(w.a_MK) + m * w.a_stride + 2 * w.first;
    uint32_t* to = static_cast<uint32_t*>(w.wide_MK) + m * kBlockPacks;
    size_t k = 0;
    for (; k + kLanes <= 2 * w.groups; k += kLanes) store((float*)(to + k), from_bf16(load_halves(from + k)));
    for (; k < 2 * w.groups; ++k) to[k] = static_cast<uint32_t>(from[k]) << 16;
  }
}

// Sums even k, then odd: ascending. The first strip of rows widens the block of the panel in registers and keeps it for
// the others, where there are enough of them; they multiply as fp32 does. Where shifts take the place of products
// (Intel) widening in every strip would cost a sixth of the time.
struct Bf16AsFp32 {
  static constexpr size_t kPack = 2, kUnit = 2, kWideNumber = sizeof(float), kBlockGroups = kBlockPacks / 2;
  static constexpr void (*kWiden)(const GemmWiden&) = widen_bf16;

  template <bool kKeeps, size_t kRows, class Half>
  static void add_half(Vector (&sums)[kRows][kVectors], const float* a, size_t a_stride, const uint16_t* panel,
                       float* wide, Half half) {
    Vector b[kVectors];
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) {
      b[v] = half(load((const float*)(panel + 2 * v * kLanes)));
      if constexpr (kKeeps) store(wide + v * kLanes, b[v]);
    }
    DEBERTA_UNROLL
    for (size_t m = 0; m < kRows; ++m) {
      const Vector left = broadcast(a + m * a_stride);
      DEBERTA_UNROLL
      for (size_t v = 0; v < kVectors; ++v) sums[m][v] = fma(left, b[v], sums[m][v]);
    }
  }

  template <size_t kRows, bool kKeeps>
  static void first_rows(const GemmTile& t) {
    Vector sums[kRows][kVectors];
    begin_sums(t, sums);
    const uint16_t* panel = static_cast<const uint16_t*>(t.panel);
    const float* a = static_cast<const float*>(t.a_MK);
    float* wide = static_cast<float*>(t.wide_panel);
    Ahead read_ahead(t, t.groups);
    for (size_t g = 0; g < t.groups; ++g, panel += 2 * kWidth, a += 2) {
      read_ahead();
      add_half<kKeeps>(sums, a, t.a_stride, panel, wide, [](Vector pairs) { return low_bf16(pairs); });
      if constexpr (kKeeps) wide += kWidth;  // else null
      // Read again: a compiler that keeps the pairs for the odd elements has no register left for the sums.
      const uint16_t* panel_again = panel;
      __asm__("" : "+r"(panel_again));
      add_half<kKeeps>(sums, a + 1, t.a_stride, panel_again, wide, [](Vector pairs) { return high_bf16(pairs); });
      if constexpr (kKeeps) wide += kWidth;
    }
    store_sums(sums, static_cast<float*>(t.tile_MW), kWidth);
  }

  template <size_t kRows>
  static void rows(const GemmTile& t) {
    if (t.wide_panel == nullptr) return first_rows<kRows, false>(t);
    t.is_first ? first_rows<kRows, true>(t) : multiply_block<Fp32, kRows>(t, t.wide_panel, 2 * t.groups);
  }
};

// A product of s16 cannot overflow in vpmaddwd (vpmaddubsw of u8 and s8 would saturate), so the sums are those of VNNI.
struct Int16Pairs {
  using Number = int16_t;
  static constexpr size_t kPack = 2;
  static Vector broadcast(const int16_t* a) { return broadcast_bits(a); }
  static void add(Vector& sum, Vector left, Vector right) { sum = add_int16_pairs(sum, left, right); }
};

void widen_to_int16(const GemmWiden& w) {
  for (size_t m = 0; m < w.rows; ++m) {
    const uint8_t* from = static_cast<const uint8_t*>(w.a_MK) + m * w.a_stride + 2 * w.first;
    int16_t* to = static_cast<int16_t*>(w.wide_MK) + m * (kGemmBlockBytes / sizeof(int16_t));
    size_t k = 0;
    for (; k + 2 * kLanes <= 2 * w.groups; k += 2 * kLanes) widen_bytes(from + k, to + k);
    for (; k < 2 * w.groups; ++k) to[k] = from[k];
  }
}

struct Int8AsInt16 {
  static constexpr size_t kPack = 2, kUnit = 4, kWideNumber = sizeof(int16_t), kBlockGroups = kBlockPacks;
  static constexpr void (*kWiden)(const GemmWiden&) = widen_to_int16;

  template <size_t kRows>
  static void rows(const GemmTile& t) {
    multiply_block<Int16Pairs, kRows>(t, t.panel, t.groups);
  }
};

template <class Format>
void tile(const GemmTile& t) {
  switch (t.rows) {
    case 1:
      return Format::template rows<1>(t);
    case 2:
      return Format::template rows<2>(t);
    case 3:
      return Format::template rows<3>(t);
    case 4:
      return Format::template rows<4>(t);
    case 5:
      return Format::template rows<5>(t);
    default:
      return Format::template rows<6>(t);
  }
}

template <class Format>
constexpr GemmKernel kKernelOf = {.panel_width = kWidth,
                                  .panels = 1,
                                  .group = Format::kPack,
                                  .unit = Format::kUnit,
                                  .max_rows = kMaxRows,
                                  .row_unit = 1,
                                  .block_rows = 96,
                                  .split_rows = 64,
                                  .block_groups = Format::kBlockGroups,
                                  .block_tiles = 256 / kWidth,
                                  .kept_bytes = 0,
                                  .runs_beside = false,
                                  .begin = nullptr,
                                  .end = nullptr,
                                  .wide_number = Format::kWideNumber,
                                  .widen = Format::kWiden,
                                  .tile = tile<Format>};

}  // namespace
}  // namespace deberta
