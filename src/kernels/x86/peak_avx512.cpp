// The peaks of AVX-512: fused multiply-adds of 16 lanes; sums of products of 32 pairs. Only C headers and types here
// (docs/kernels.md).
#include "kernels/x86/peak_avx512.inc.h"

namespace deberta {
namespace {

DEBERTA_CHAINS(run_fp32, "vfmadd231ps %%zmm30, %%zmm31, %%zmm")
DEBERTA_CHAINS(run_int8, "vpmaddwd %%zmm30, %%zmm31, %%zmm29\nvpaddd %%zmm29, %%zmm\\n, %%zmm")

constexpr PeakKernel kKernels[] = {{kChains * 32, run_fp32}, {kChains * 64, run_int8}};

}  // namespace

const PeakKernel* peak_avx512_kernels() {
  return kKernels;
}

}  // namespace deberta
