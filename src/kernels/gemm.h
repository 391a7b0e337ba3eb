// C[M,N] = epilogue(A[M,K] W^T), fp32, W [N,K] packed once for the implementation that will run.
//   y[m,n] = activation( sum_k a[m,k] w[n,k] + bias[n] ) + residual[m,n]
// Deterministic: each output is one chain in ascending k, so a row's bits do not depend on M, on its neighbours or on
// the number of threads. They do depend on the implementation. M rows  N outputs  K depth
#pragma once
#include <cstddef>

#include "base/parallel.h"
#include "kernels/activation.h"
#include "kernels/dispatch.h"

namespace deberta {

// Panels [ceil(N / width)][K][width], the last one padded with zeros. Width 1 (the reference) is plain [N, K].
struct PackedWeights {
  const float* panels = nullptr;
  size_t outputs = 0;  // N
  size_t depth = 0;    // K
  size_t panel_width = 1;
};

// Elements that gemm_pack writes.
size_t gemm_packed_count(const KernelSet& kernels, size_t outputs, size_t depth);

// Packs row-major w_NK into `panels`, 64-byte aligned, for the implementation of `kernels`.
PackedWeights gemm_pack(const KernelSet& kernels, const float* w_NK, size_t outputs, size_t depth, float* panels);

struct GemmParams {
  const float* a_MK = nullptr;
  size_t a_stride = 0;  // elements between rows; 0: K
  size_t rows = 0;      // M
  PackedWeights weights;
  const float* bias_N = nullptr;
  KernelActivation activation = KernelActivation::kLinear;
  const float* residual_MN = nullptr;  // may be c_MN itself; stride as c_MN's
  float* c_MN = nullptr;
  size_t c_stride = 0;  // elements between rows; 0: N
  // Heads: when head_size > 0 column n of row m is stored at c[(n / head_size) * head_stride + m * head_size + n %
  // head_size], so that N = 3 D gives [3][H][T][K] with head_stride = T * K. No residual then; c_stride is not read.
  size_t head_size = 0;
  size_t head_stride = 0;
  Parallel parallel = serial();
};

// Where y[m,n] is stored.
inline size_t gemm_offset(const GemmParams& p, size_t row, size_t column) {
  if (p.head_size > 0) return column / p.head_size * p.head_stride + row * p.head_size + column % p.head_size;
  return row * (p.c_stride > 0 ? p.c_stride : p.weights.outputs) + column;
}

// a_MK must not overlap c_MN. Allocates only when `kernels` checks. Throws kInternal for pointers or sizes that do not
// fit together, or weights packed for another implementation.
void gemm(const KernelSet& kernels, const GemmParams& params);

}  // namespace deberta
