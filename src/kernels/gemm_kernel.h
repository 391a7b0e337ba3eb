// What one instruction set offers for GEMM. Types only: files compiled with wider flags include this header, and an
// inline function in it could end up as the whole program's copy.
#pragma once
#include <stddef.h>

namespace deberta {

// tile_MW[m][w] = sum over k of a_MK[m][k] * panel_KW[k][w], m < rows: one fma chain from 0 per output, k ascending.
struct GemmTile {
  const float* a_MK;
  size_t a_stride;  // elements between rows of a
  size_t rows;      // 1 .. max_rows; no row beyond is read
  size_t depth;     // K
  const float* panel_KW;
  float* tile_MW;  // rows are panel_width apart
};

struct GemmKernel {
  size_t panel_width;  // W: columns of a panel of packed weights and of a tile
  size_t max_rows;
  void (*tile)(const GemmTile& tile);
};

const GemmKernel& gemm_avx2_kernel();
const GemmKernel& gemm_avx512_kernel();

}  // namespace deberta
