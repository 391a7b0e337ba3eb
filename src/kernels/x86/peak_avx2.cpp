// The peaks of AVX2: fused multiply-adds of 8 lanes; sums of products of 16 pairs. Only C headers and types here
// (docs/kernels.md).
#include "kernels/x86/peak_avx2.inc.h"

namespace deberta {
namespace {

DEBERTA_CHAINS(run_fp32, "vfmadd231ps %%ymm14, %%ymm15, %%ymm")
DEBERTA_CHAINS(run_int8, "vpmaddwd %%ymm14, %%ymm15, %%ymm13\nvpaddd %%ymm13, %%ymm\\n, %%ymm")

constexpr PeakKernel kKernels[] = {{kChains * 16, run_fp32}, {kChains * 32, run_int8}};

}  // namespace

const PeakKernel* peak_avx2_kernels() {
  return kKernels;
}

}  // namespace deberta
