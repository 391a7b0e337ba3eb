// GEMM tiles of 6 rows and kVectors vectors of columns, in every number format; included by gemm_*.cpp after
// vectors_<isa>.inc.h. Traffic per step of k: kVectors loads from the panel (streams from L2 or L3), 6 broadcasts from
// A (L1). A format says how its numbers are multiplied:
//   InPlace<Fp32>              fp32
//   InPlace<Bf16Pairs>         bf16 with AVX512_BF16 (register_tile_bf16.inc.h)
//   InPlace<Bytes<add_bytes>>  int8 with VNNI: one vpdpbusd takes four k (u8 x s8, sums in int32)
//   Bf16AsFp32                 bf16 widened: half the bytes of fp32, not half the time; sums even k, then odd
//   Int8AsInt16                int8 widened: weights lie as s16 pairs, the bytes of A are widened in blocks of k
#include "kernels/x86/register_tile.inc.h"

namespace deberta {
namespace {

constexpr size_t kVectors = kLanes / 4;  // 2 with AVX2, 4 with AVX-512
constexpr size_t kWidth = kVectors * kLanes;

// Packs are multiplied as they lie.
template <class Product>
struct InPlace {
  static constexpr size_t kPack = Product::kPack, kUnit = kPack;

  template <size_t kRows>
  static void rows(const GemmTile& t) {
    Vector sums[kRows][kVectors];
    clear(sums);
    const char* next = static_cast<const char*>(t.next);
    const size_t share = t.next_bytes / t.groups;
    const auto prefetch = [&] {
      __builtin_prefetch(next, 0, 2);
      next += share;
    };
    add_products<Product>(sums, static_cast<const typename Product::Number*>(t.a_MK), t.a_stride,
                          static_cast<const float*>(t.panel), kWidth, t.groups, prefetch);
    store_sums(sums, static_cast<float*>(t.tile_MW), kWidth);
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

struct Bf16AsFp32 {
  static constexpr size_t kPack = 2, kUnit = 2;

  template <size_t kRows, class Half>
  static void add_half(Vector (&sums)[kRows][kVectors], const uint16_t* a, size_t a_stride, const uint16_t* panel,
                       Half half) {
    Vector b[kVectors];
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) b[v] = half(load((const float*)(panel + 2 * v * kLanes)));
    DEBERTA_UNROLL
    for (size_t m = 0; m < kRows; ++m) {
      const Vector left = half(broadcast_bits(a + m * a_stride));
      DEBERTA_UNROLL
      for (size_t v = 0; v < kVectors; ++v) sums[m][v] = fma(left, b[v], sums[m][v]);
    }
  }

  template <size_t kRows>
  static void rows(const GemmTile& t) {
    Vector sums[kRows][kVectors];
    clear(sums);
    const uint16_t* panel = static_cast<const uint16_t*>(t.panel);
    const uint16_t* a = static_cast<const uint16_t*>(t.a_MK);
    for (size_t g = 0; g < t.groups; ++g, panel += 2 * kWidth, a += 2) {
      add_half(sums, a, t.a_stride, panel, [](Vector pairs) { return low_bf16(pairs); });
      // Read again: a compiler that keeps the pairs for the odd elements has no register left for the sums.
      const uint16_t* panel_again = panel;
      const uint16_t* a_again = a;
      __asm__("" : "+r"(panel_again), "+r"(a_again));
      add_half(sums, a_again, t.a_stride, panel_again, [](Vector pairs) { return high_bf16(pairs); });
    }
    store_sums(sums, static_cast<float*>(t.tile_MW), kWidth);
  }
};

// A product of s16 cannot overflow in vpmaddwd (vpmaddubsw of u8 and s8 would saturate), so the sums are those of VNNI.
struct Int16Pairs {
  using Number = int16_t;
  static constexpr size_t kPack = 2;
  static Vector broadcast(const int16_t* a) { return broadcast_bits(a); }
  static void add(Vector& sum, Vector left, Vector right) { sum = add_int16_pairs(sum, left, right); }
};

struct Int8AsInt16 {
  static constexpr size_t kPack = 2, kUnit = 4;
  static constexpr size_t kBlockGroups = 256;

  template <size_t kRows>
  static void widen(const GemmTile& t, size_t first, size_t groups, int16_t (*a)[2 * kBlockGroups]) {
    for (size_t m = 0; m < kRows; ++m) {
      const uint8_t* a_K = static_cast<const uint8_t*>(t.a_MK) + m * t.a_stride + 2 * first;
      size_t k = 0;
      for (; k + 2 * kLanes <= 2 * groups; k += 2 * kLanes) widen_bytes(a_K + k, a[m] + k);
      for (; k < 2 * groups; ++k) a[m][k] = a_K[k];
    }
  }

  template <size_t kRows>
  static void rows(const GemmTile& t) {
    int16_t a[kRows][2 * kBlockGroups];
    Vector sums[kRows][kVectors];
    float* tile_MW = static_cast<float*>(t.tile_MW);
    const float* panel = static_cast<const float*>(t.panel);
    for (size_t first = 0; first < t.groups; first += kBlockGroups) {
      const size_t groups = t.groups - first < kBlockGroups ? t.groups - first : kBlockGroups;
      widen<kRows>(t, first, groups, a);
      first == 0 ? clear(sums) : load_sums(sums, tile_MW, kWidth);
      add_products<Int16Pairs>(sums, a[0], 2 * kBlockGroups, panel + first * kWidth, kWidth, groups, [] {});
      store_sums(sums, tile_MW, kWidth);
    }
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
                                  .max_rows = 6,
                                  .block_rows = 96,
                                  .split_rows = 64,
                                  .begin = nullptr,
                                  .end = nullptr,
                                  .tile = tile<Format>};

}  // namespace
}  // namespace deberta
