// Index arithmetic of the fused attention for CUDA: which lane holds what, and where rows lie in shared memory. The
// kernel and the emulator of tests/kernels include it; neither does index arithmetic of its own.
//
// Fragments are those of mma.m16n8k16: lane = 4 r + q (r 0..7, q 0..3) holds of C the columns 2q and 2q + 1 (e = 0, 1)
// of the rows r and r + 8. Keys are permuted inside each block of 8: column 2q + e of a fragment is key q + 4e. Only
// the row addresses of ldmatrix change, and a row of relative positions, which a distance shifts by any number of
// columns, then moves by whole lanes and halves of a register: one shuffle and one byte permutation for two scores.
#pragma once
#include <cstdint>

#if defined(__CUDACC__)
#define DEBERTA_HD __host__ __device__ __forceinline__
#define DEBERTA_UNROLL _Pragma("unroll")
#else
#define DEBERTA_HD inline
#define DEBERTA_UNROLL
#endif

namespace deberta::cuda {

inline constexpr int kHeadSize = 64;
inline constexpr int kRowBytes = 2 * kHeadSize;

// The key, within its block of 8, of column `column` of a fragment.
DEBERTA_HD constexpr int key_of_column(int column) {
  return (column >> 1) + 4 * (column & 1);
}

// Rows of 128 bytes in shared memory lie 144 apart: chunks c of 16 bytes of eight rows that follow each other, as
// ldmatrix reads them, then meet all banks, and every address is a sum (with the usual exclusive or, a fifth of the
// instructions computed addresses).
inline constexpr int kRowStride = kRowBytes + 16;
DEBERTA_HD constexpr uint32_t row_offset(int row) {
  return static_cast<uint32_t>(row * kRowStride);
}
DEBERTA_HD constexpr uint32_t chunk_offset(int chunk) {
  return static_cast<uint32_t>(16 * chunk);
}

// Which row of 8, of which of four matrices, a lane addresses in ldmatrix.x4.
DEBERTA_HD constexpr int matrix_of_lane(int lane) {
  return lane >> 3;
}
DEBERTA_HD constexpr int row_of_lane(int lane) {
  return lane & 7;
}

// c2p: the band of a query row, q_i . Kr[row(t)], has column c = j - i + 15 for the row i of 16 and the key j of the
// tile, t = i - j. Block G of 8 columns holds, in fragment column x, the distance i0 - j0 + 15 - 8 G -
// key_of_column(x). A score of the rows r + 8 h in the block of keys nt needs the blocks nt + 1 - h and nt + 2 - h,
// each shuffled from c2p_lane, and of their four halves the c2p_selector's two.
DEBERTA_HD constexpr int c2p_distance(int block, int column) {
  return 15 - 8 * block - key_of_column(column);
}
DEBERTA_HD constexpr int c2p_lane(int lane) {
  return (lane & ~3) | (((lane & 3) + ((7 - (lane >> 2)) & 3)) & 3);
}
DEBERTA_HD constexpr uint32_t c2p_selector(int lane) {
  const int shift = 7 - (lane >> 2);
  const int half = (shift >> 2) + (((lane & 3) + (shift & 3)) >> 2);
  return 0x3210u + 0x2222u * static_cast<uint32_t>(half);
}

// p2c: rows of Qr by distance against the keys nt of a tile of 8 * tiles keys; group g of 8 rows holds in row x the
// distance i0 - j0 + 8 g - (8 tiles - 1) + x. The scores of the rows 8 hh + r need of the groups g = tiles - 1 - nt +
// hh and g + 1 the row (r + 7 - q - 4e) mod 8: the one of g + 1 where that sum passes 7. The lane that holds a row
// knows which of the two is wanted of it.
DEBERTA_HD constexpr int p2c_distance(int group, int row, int tiles) {
  return 8 * group - (8 * tiles - 1) + row;
}
DEBERTA_HD constexpr int p2c_group(int tiles, int key_block, int query_block) {
  return tiles - 1 - key_block + query_block;
}
DEBERTA_HD constexpr int p2c_lane(int lane, int e) {
  return ((((lane >> 2) + 7 - (lane & 3) - 4 * e) & 7) << 2) | (lane & 3);
}
DEBERTA_HD constexpr bool p2c_gives_next(int lane, int e) {
  return (lane >> 2) < 7 - (lane & 3) - 4 * e;
}

}  // namespace deberta::cuda
