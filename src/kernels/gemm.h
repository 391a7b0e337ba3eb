// C[M,N] = epilogue(A[M,K] W^T), W [N,K] packed once for the implementation that will run.
//   y[m,n] = activation( sum_k a[m,k] w[n,k] + bias[n] ) + residual[m,n]
// A is fp32, bf16, or int8 as `quantize` makes it; sums are fp32 (int8: exact in int32). Deterministic: each output is
// one chain in ascending k, so a row's bits do not depend on M, on its neighbours or on the number of threads. They do
// depend on the implementation.
// M rows  N outputs  K depth  O outlier columns
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/parallel.h"
#include "kernels/activation.h"
#include "kernels/bf16.h"
#include "kernels/dispatch.h"
#include "kernels/product_role.h"
#include "kernels/quantize.h"

namespace deberta {

// Panels [ceil(N / width)][groups of k][width][group], zeros where N or K end: the width, the group (1 with fp32, 2
// with bf16, 4 or 2 with int8) and the padding of K are those of the implementation. The reference has plain [N, K].
struct PackedWeights {
  const void* panels = nullptr;
  size_t outputs = 0;  // N
  size_t depth = 0;    // K
  Precision precision = Precision::kFp32;
  KernelLevel level = KernelLevel::kReference;  // packed for it

  // int8 only. w[n,k] = q[n,k] * scales[n] / reciprocal[k] off the outlier columns, whose q is 0.
  const float* scales_N = nullptr;
  const int32_t* compensation_N = nullptr;  // -128 * sum_k q[n,k]: A's bytes are shifted by 128
  const float* outliers_ON = nullptr;       // rounded to bf16
  Quantizer quantizer;                      // what `quantize` must do to A
};

// A weight to pack. Row-major [N, K], or [K, N] in w_KN (fp32 and bf16 only) or w_bf16_KN (bf16 only) instead: then it
// is packed transposed.
struct WeightSource {
  const float* w_NK = nullptr;
  size_t outputs = 0;
  size_t depth = 0;
  Quantizer quantizer = {};  // int8: smoothing and outlier columns, from a calibration; its memory must stay valid
  // int8, already quantised: q and scales; w_NK is then read only for the outlier columns (null without any).
  const int8_t* q_NK = nullptr;
  const float* scales_N = nullptr;
  const float* w_KN = nullptr;
  const Bf16* w_bf16_KN = nullptr;
  size_t w_KN_stride = 0;  // elements between rows of either; 0: N
};

// Bytes that gemm_pack writes, a multiple of 64.
size_t gemm_packed_bytes(const KernelSet& kernels, Precision precision, const WeightSource& source);

// Packs into `memory`, 64-byte aligned, for the implementation of `kernels`. Throws kInternal for an outlier column
// whose reciprocal is not 0, and for a transposed int8 weight.
PackedWeights gemm_pack(const KernelSet& kernels, Precision precision, const WeightSource& source, void* memory,
                        const Parallel& parallel = serial());

struct GemmParams {
  // fp32, Bf16 or (int8) u8, as the weights. With bf16 an odd K needs a zero behind each row, int8 any byte up to a
  // multiple of 4.
  const void* a_MK = nullptr;
  size_t a_stride = 0;                  // elements between rows; 0: K
  const float* a_scales_M = nullptr;    // int8
  const Bf16* a_outliers_MO = nullptr;  // int8 with outliers
  size_t rows = 0;                      // M
  PackedWeights weights;
  const PackedWeights* next = nullptr;  // weights of the product that follows, to be read ahead; may be null
  const float* bias_N = nullptr;
  KernelActivation activation = KernelActivation::kLinear;
  const float* residual_MN = nullptr;  // may be c_MN itself; stride as c_MN's
  float* c_MN = nullptr;               // exactly one of the two
  Bf16* c_bf16_MN = nullptr;
  size_t c_stride = 0;  // elements between rows; 0: N
  // Heads: when head_size > 0 column n of row m is stored at c[(n / head_size) * head_stride + m * head_size + n %
  // head_size], so that N = 3 D gives [3][H][T][K] with head_stride = T * K. No residual then; c_stride is not read.
  size_t head_size = 0;
  size_t head_stride = 0;
  ProductRole role = ProductRole::kUnnamed;
  Parallel parallel = serial();
};

// Where y[m,n] is stored.
inline size_t gemm_offset(const GemmParams& p, size_t row, size_t column) {
  if (p.head_size > 0) return column / p.head_size * p.head_stride + row * p.head_size + column % p.head_size;
  return row * (p.c_stride > 0 ? p.c_stride : p.weights.outputs) + column;
}

// How an implementation wants rows to be split.
struct GemmBlocking {
  size_t strip_rows = 1;  // rows of a tile
  size_t block_rows = 1;  // rows that stay in the second-level cache while the weights stream through
  // For each thread: with fewer, reading the weights once in each thread takes longer than the sums.
  size_t split_rows = 1;
};
GemmBlocking gemm_blocking(const KernelSet& kernels, Precision precision);

// Rows of a block when `rows` are shared equally by `workers`: whole strips, at most block_rows.
size_t equal_blocks(size_t rows, size_t workers, const GemmBlocking& blocking);

// a_MK must not overlap the output. Allocates only when `kernels` checks. Throws kInternal for pointers or sizes that
// do not fit together, or weights packed for another implementation.
void gemm(const KernelSet& kernels, const GemmParams& params);

}  // namespace deberta
