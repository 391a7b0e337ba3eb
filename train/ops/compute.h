// How the operations of this room compute, not what: fp32 on the CPU runs the kernels (src/kernels); anything else,
// doubles or another device, the same equations composed of ATen's operators, which is the second opinion in tests.
#pragma once
#include <ATen/core/Tensor.h>

#include "base/parallel.h"
#include "kernels/dispatch.h"

namespace deberta::train {

class PackedStore;

// Outlives the backward pass of every operation that was given it.
struct Compute {
  KernelSet kernels;
  Parallel parallel = serial();
  // Precision of the kernels' products, fp32 or bf16: what they multiply is rounded to it.
  Precision precision = Precision::kFp32;
  PackedStore* store = nullptr;  // where packed weights may be kept; null: each product packs its own
  bool composes = false;         // ATen's operators for everything
  // The backward pass computes layers again instead of keeping their activations (model/recompute.h).
  bool recomputes_layers = false;
};

inline bool runs_kernels(const Compute& compute, const at::Tensor& x) {
  return !compute.composes && x.is_cpu() && x.scalar_type() == at::kFloat && x.size(0) > 0;
}

}  // namespace deberta::train
