// How the panels of packed weights lie (gemm.h), by implementation; for packing, the reference and the checks.
#pragma once
#include "kernels/gemm.h"
#include "kernels/gemm_kernel.h"

namespace deberta {

// Plain loops for the reference.
const GemmPackKernel& gemm_pack_kernel(KernelLevel level);

struct PanelLayout {
  size_t width = 1;    // outputs side by side
  size_t group = 1;    // consecutive k side by side
  size_t groups = 0;   // in a panel, including padding
  size_t element = 4;  // bytes

  PanelLayout(Precision precision, KernelLevel level, size_t depth);
  size_t panels(size_t outputs) const { return (outputs + width - 1) / width; }
  size_t group_bytes() const { return width * group * element; }
  size_t panel_bytes() const { return groups * group_bytes(); }
  // In elements from the first panel: what stands there is w[n,k], with int8 the quantised q[n,k].
  size_t index(size_t n, size_t k) const {
    return ((n / width * groups + k / group) * width + n % width) * group + k % group;
  }
};

}  // namespace deberta
