// The convolution of version 2 (algorithm.md 6), over the rows of each sequence of a pack:
//   y[t,o] = activation( mask[t] * ( bias[o] + sum_{c,w} weight[o,c,w] * x[t + w - (W-1)/2, g(o) D/G + c] ) )
// Rows beyond the sequence's borders and rows with mask 0 count as zeros, whatever they hold. fp32 in and out. A row
// depends on its own sequence alone. T rows  D columns in and out  G groups  W width of the kernel, odd
#pragma once
#include <cstddef>
#include <cstdint>

#include "base/parallel.h"
#include "kernels/activation.h"
#include "kernels/dispatch.h"

namespace deberta {

struct ConvolutionParams {
  const float* x_TD = nullptr;
  const uint8_t* mask_T = nullptr;    // null: all
  const int32_t* starts = nullptr;    // cu_seqlens [B + 1], from 0
  size_t sequences = 0;               // B
  size_t columns = 0;                 // D
  size_t width = 0;                   // W
  size_t groups = 1;                  // G, divides D
  const float* weight_DGW = nullptr;  // [D, D / G, W]
  const float* bias_D = nullptr;
  KernelActivation activation = KernelActivation::kLinear;
  float* y_TD = nullptr;  // must not overlap x
  Parallel parallel = serial();
};

// No allocation. Throws kInternal for null pointers, an even width, groups that do not divide the columns.
void convolution(const KernelSet& kernels, const ConvolutionParams& params);

}  // namespace deberta
