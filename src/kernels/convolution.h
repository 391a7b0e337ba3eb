// The convolution of version 2 (model.md#convolution), over the rows of each sequence of a pack:
//   y[t,o] = activation( mask[t] * ( bias[o] + sum_{c,w} weight[o,c,w] * x[t + w - (W-1)/2, g(o) D/G + c] ) )
// Rows beyond the sequence's borders and rows with mask 0 count as zeros, whatever they hold. fp32 in and out. A row
// depends on its own sequence alone. One GEMM for each group: a row of A is the W rows around it, side by side.
// T rows  D columns in and out  G groups  W width of the kernel, odd
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/parallel.h"
#include "kernels/activation.h"
#include "kernels/dispatch.h"
#include "kernels/gemm.h"

namespace deberta {

struct ConvolutionShape {
  size_t columns = 0;  // D
  size_t width = 0;    // W
  size_t groups = 1;   // G, divides D
};

// Bytes that convolution_pack writes, and elements that a call over `rows` rows needs as scratch. 0 for the reference.
size_t convolution_packed_bytes(const KernelSet& kernels, const ConvolutionShape& shape);
size_t convolution_scratch_count(const KernelSet& kernels, const ConvolutionShape& shape, size_t rows, size_t workers);

// Packs weight_DGW [D, D / G, W] into `memory`, 64-byte aligned: one matrix for each group. Empty for the reference.
std::vector<PackedWeights> convolution_pack(const KernelSet& kernels, const ConvolutionShape& shape,
                                            const float* weight_DGW, void* memory);

struct ConvolutionParams {
  const float* x_TD = nullptr;
  const uint8_t* mask_T = nullptr;  // null: all
  const int32_t* starts = nullptr;  // cu_seqlens [B + 1], from 0
  size_t sequences = 0;             // B
  ConvolutionShape shape;
  const float* weight_DGW = nullptr;        // read by the reference and by `check`
  const PackedWeights* packed_G = nullptr;  // as convolution_pack returns them; the reference does not read them
  float* scratch = nullptr;                 // convolution_scratch_count() elements
  const float* bias_D = nullptr;
  KernelActivation activation = KernelActivation::kLinear;
  float* y_TD = nullptr;  // must not overlap x
  Parallel parallel = serial();
};

// No allocation unless `kernels` checks. Throws kInternal for null pointers, an even width, groups that do not divide
// the columns.
void convolution(const KernelSet& kernels, const ConvolutionParams& params);

}  // namespace deberta
