// What one instruction set offers for GEMM. Types only: files compiled with wider flags include this header, and an
// inline function in it could end up as the whole program's copy.
#pragma once
#include <stddef.h>
#include <stdint.h>

namespace deberta {

constexpr size_t kGemmBlockBytes = 3072;  // bytes of a row of a, as tiles read it, in a block of k

// The epilogue of some rows of a tile, in this order: int8 sums to fp32, side product, bias, activation, residual.
struct GemmFinish {
  const void* tile_MW;
  size_t tile_stride;
  size_t rows;
  size_t columns;

  // int8: y = (sum + compensation[n]) * a_scale[m] * w_scale[n] + sum over o of side_a[m][o] * side_w[o][n].
  const int32_t* compensation_N;  // null: the sums are fp32
  const float* a_scales_M;
  const float* w_scales_N;
  const uint16_t* side_a_MO;  // bf16
  const float* side_w_ON;
  size_t side_stride;  // between rows of side_w
  size_t outliers;     // O

  const float* bias_N;  // may be null
  int activation;       // 0 linear, 1 erf-GELU, 2 ReLU, 3 tanh-GELU, 4 quick GELU, 5 swish
  const float* residual_MN;
  size_t residual_stride;
  float* c_MN;  // exactly one of the two
  uint16_t* c_bf16_MN;
  size_t c_stride;
};
using GemmFinishFunction = void (*)(const GemmFinish& finish, size_t begin, size_t end);  // these rows
struct GemmFinishKernel {
  GemmFinishFunction finish;
};

// tile_MW[m][w] = sum over k of a_MK[m][k] * panel[k][w], m < rows: one chain per output, k ascending. Sums are fp32,
// or int32 for int8. The panel holds groups of `group` consecutive k side by side (layout: kernels/gemm.h). A tile may
// be one block of k: then `adds` says that the sums continue those of smaller k.
struct GemmTile {
  const void* a_MK;  // fp32, bf16 or u8; what `widen` wrote
  size_t a_stride;   // elements between rows of a
  size_t rows;       // 1 .. max_rows; no row beyond is read
  size_t groups;     // groups of k in the panel
  size_t depth;      // k of a in the block; a is read up to the end of its last group (not beyond with fp32 and AMX)
  const void* panel;
  size_t panels;        // 1 .. GemmKernel::panels
  size_t panel_stride;  // bytes between them
  void* wide_panel;     // scratch for what the first strip of rows keeps of the panel for the others; null: nothing
  bool is_first;        // strip of rows
  bool adds;            // to the sums in tile_MW
  void* tile_MW;        // rows are W apart, whatever `panels`
  const void* next;     // the block of panels that comes next, to prefetch; may be null
  size_t next_bytes;    // this call's share of each of them
  size_t next_stride;
  const void* next_rows;  // rows of a in its next block of k, to prefetch
  size_t next_rows_count;
  const GemmFinish* beside;  // the epilogue of the tile before, run while this one multiplies and before tile_MW is
                             // written; null: none
  GemmFinishFunction finish;
};

// Some rows of a in the numbers that the tile multiplies, groups first .. first + groups of k.
struct GemmWiden {
  const void* a_MK;
  size_t a_stride;
  size_t rows;
  size_t first;
  size_t groups;
  void* wide_MK;  // rows are kGemmBlockBytes apart
};

struct GemmKernel {
  size_t panel_width;
  size_t panels;        // side by side in a tile, at most: a tile's width W is both multiplied
  size_t group;         // consecutive k side by side in a panel
  size_t unit;          // K is padded with zeros to a multiple of it, in elements
  size_t max_rows;      // in a tile
  size_t row_unit;      // rows are shared evenly among strips, in multiples of it
  size_t block_rows;    // rows that stay in the second-level cache while the panels stream through
  size_t split_rows;    // work is split by rows from this many per thread on: fewer cannot hide reading the weights
  size_t block_groups;  // groups of k that pass all rows before the next: a block of a panel stays in a cache; 0: all
  size_t block_tiles;   // tiles side by side that pass a block of k before the next
  size_t kept_bytes;  // a block of rows that is no larger stays in that cache: its tiles pass all k one after the other
  bool runs_beside;   // takes GemmTile::beside
  void (*begin)();    // on the thread that computes, before and after its tiles; may be null
  void (*end)();
  size_t wide_number;                    // bytes of a number that `widen` writes
  void (*widen)(const GemmWiden& rows);  // null: tiles multiply a as it is
  void (*tile)(const GemmTile& tile);
};

// Conversions and the transposition that packing is made of.
struct GemmPackKernel {
  // panel[g][w] = rows[w][g] for whole groups, 4 bytes each; strides in groups.
  void (*transpose)(const float* rows, size_t stride, size_t columns, size_t groups, float* panel, size_t width);
  // sums[c] += x[0][c], then x[1][c], ...
  void (*add_rows)(const float* x, size_t stride, size_t rows, size_t columns, float* sums);
  // Two rows side by side, in bf16: pairs[2 i] from low[i], pairs[2 i + 1] from high[i]; high may be null: zeros.
  void (*pair_rows)(const float* low, const float* high, uint16_t* pairs, size_t count);
  void (*pair_bf16_rows)(const uint16_t* low, const uint16_t* high, uint16_t* pairs, size_t count);
  // w / reciprocal, 0 where the reciprocal is 0; null: w. The largest absolute value; rounded to int8 after / scale.
  float (*largest)(const float* w_K, const float* reciprocal_K, size_t count);
  void (*to_int8)(const float* w_K, const float* reciprocal_K, float scale, int8_t* q_K, size_t count);
};

struct GemmAmxKernels {
  GemmKernel bf16;
  GemmKernel int8;
};

// gemm_FORMAT_SET: the number format of A and W, the one they are multiplied in if it differs, the instruction set.
const GemmKernel& gemm_fp32_avx2_kernel();
const GemmKernel& gemm_fp32_avx512_kernel();
const GemmKernel& gemm_bf16_as_fp32_avx2_kernel();
const GemmKernel& gemm_bf16_as_fp32_avx512_kernel();
const GemmKernel& gemm_bf16_avx512bf16_kernel();
const GemmKernel& gemm_int8_as_int16_avx2_kernel();
const GemmKernel& gemm_int8_as_int16_avx512_kernel();
const GemmKernel& gemm_int8_avxvnni_kernel();
const GemmKernel& gemm_int8_avx512vnni_kernel();
const GemmAmxKernels& gemm_amx_kernels();
const GemmFinishKernel& gemm_finish_avx2_kernel();
const GemmFinishKernel& gemm_finish_avx512_kernel();
const GemmPackKernel& gemm_pack_avx2_kernel();
const GemmPackKernel& gemm_pack_avx512_kernel();

}  // namespace deberta
