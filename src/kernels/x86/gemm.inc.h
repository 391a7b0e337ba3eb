// The fp32 tile, included by gemm_<isa>.cpp after it has defined Vector, kLanes, kVectors, load, broadcast, fma, zero,
// store. A tile is rows x (kVectors * kLanes) accumulators in registers; one broadcast of A feeds kVectors fmas. 6 x 64
// with AVX-512: 24 accumulators + 4 of the panel + 1 of 32 registers; 6 x 16 with AVX2: 12 + 2 + 1 of 16. Traffic per
// step of k: kVectors loads from the panel (streams from L2 or L3), 6 broadcasts from A (L1).
#if defined(__clang__)
#define DEBERTA_UNROLL _Pragma("unroll")
#else
#define DEBERTA_UNROLL _Pragma("GCC unroll 8")
#endif

namespace deberta {
namespace {

constexpr size_t kWidth = kVectors * kLanes;

template <size_t kRows>
void tile_rows(const GemmTile& t) {
  Vector acc[kRows][kVectors];
  DEBERTA_UNROLL
  for (size_t m = 0; m < kRows; ++m) {
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) acc[m][v] = zero();
  }
  const float* panel = t.panel_KW;
  for (size_t k = 0; k < t.depth; ++k, panel += kWidth) {
    Vector b[kVectors];
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) b[v] = load(panel + v * kLanes);
    DEBERTA_UNROLL
    for (size_t m = 0; m < kRows; ++m) {
      const Vector a = broadcast(t.a_MK + m * t.a_stride + k);
      DEBERTA_UNROLL
      for (size_t v = 0; v < kVectors; ++v) acc[m][v] = fma(a, b[v], acc[m][v]);
    }
  }
  DEBERTA_UNROLL
  for (size_t m = 0; m < kRows; ++m) {
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) store(t.tile_MW + m * kWidth + v * kLanes, acc[m][v]);
  }
}

void tile(const GemmTile& t) {
  switch (t.rows) {
    case 1:
      return tile_rows<1>(t);
    case 2:
      return tile_rows<2>(t);
    case 3:
      return tile_rows<3>(t);
    case 4:
      return tile_rows<4>(t);
    case 5:
      return tile_rows<5>(t);
    default:
      return tile_rows<6>(t);
  }
}

constexpr GemmKernel kKernel = {kWidth, 6, tile};

}  // namespace
}  // namespace deberta
