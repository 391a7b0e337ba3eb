// GEMM tiles of 6 rows and kVectors vectors of columns, included by gemm_*.cpp after vectors_<isa>.inc.h. Traffic per
// step of k: kVectors loads from the panel (streams from L2 or L3), 6 broadcasts from A (L1).
#include "kernels/x86/tile.inc.h"

namespace deberta {
namespace {

constexpr size_t kVectors = kLanes / 4;  // 2 with AVX2, 4 with AVX-512
constexpr size_t kWidth = kVectors * kLanes;

// A format whose packs are multiplied as they lie.
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
constexpr GemmKernel kKernelOf = {kWidth, 1, Format::kPack, Format::kUnit, 6, 96, 64, nullptr, nullptr, tile<Format>};

}  // namespace
}  // namespace deberta
