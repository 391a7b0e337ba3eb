// The gradients of y = x W^T + b, W [N,K], from dY:
//   dX = dY W
//   dW = dY^T X
//   db = sum_t dY[t]
// Operands of the products are fp32 or rounded to bf16; sums are fp32, and db is summed from dY in fp32. A row of dX
// depends on its own row of dY alone. dW and db are sums over blocks of 1024 rows, in ascending order, each a chain
// over ascending t: no bit depends on the number of threads.
// T rows  N outputs  K inputs
#pragma once
#include <cstddef>

#include "base/parallel.h"
#include "kernels/bf16.h"
#include "kernels/dispatch.h"
#include "kernels/gemm.h"

namespace deberta {

// Rows of a block: the results' bits depend on it.
inline constexpr size_t kGradientRows = 1024;

struct LinearGradientParams {
  Precision precision = Precision::kFp32;  // or bf16
  const float* dy_TN = nullptr;
  size_t dy_stride = 0;         // elements between rows; 0: N
  const float* x_TK = nullptr;  // needed with dw, or with bf16 the next
  const Bf16* x_bf16_TK = nullptr;
  size_t x_stride = 0;                      // stride of either x; 0: K
  const PackedWeights* packed_w = nullptr;  // transposed_weight(), packed; needed with dx
  size_t rows = 0;                          // T
  size_t outputs = 0;                       // N
  size_t inputs = 0;                        // K

  float* dx_TK = nullptr;  // each null: not wanted
  size_t dx_stride = 0;    // 0: K
  float* dw_NK = nullptr;
  float* db_N = nullptr;
  // Results are added to the existing values: dx where several products read the same x, dw and db over micro-batches.
  bool adds_dx = false;
  bool adds_weights = false;

  void* scratch = nullptr;  // linear_gradient_scratch_bytes(params), 64-byte aligned, any contents
  Parallel parallel = serial();
};

// W as dX = dY W multiplies it.
WeightSource transposed_weight(const float* w_NK, size_t outputs, size_t inputs);

// Reads the precision, the sizes and which outputs are wanted.
size_t linear_gradient_scratch_bytes(const KernelSet& kernels, const LinearGradientParams& params);

// Outputs must not overlap with inputs. Throws kInternal for null pointers, overlapping rows and int8.
void linear_gradient(const KernelSet& kernels, const LinearGradientParams& params);

}  // namespace deberta
