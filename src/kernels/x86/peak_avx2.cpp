// The peaks of AVX2: fused multiply-adds of 8 lanes; sums of products of 16 pairs. Only C headers and types here
// (docs/concepts/kernels.md).
#include "kernels/x86/peak.inc.h"

namespace deberta {
namespace {

DEBERTA_CHAINS_256(run_fp32, "vfmadd231ps %%ymm14, %%ymm15, %%ymm")
DEBERTA_CHAINS_256(run_int8, "vpmaddwd %%ymm14, %%ymm15, %%ymm13\nvpaddd %%ymm13, %%ymm\\n, %%ymm")

constexpr PeakKernels kKernels = {.fp32 = {.operations = kChains256 * 16, .run = run_fp32},
                                  .int8 = {.operations = kChains256 * 32, .run = run_int8}};

}  // namespace

const PeakKernels& peak_avx2_kernels() {
  return kKernels;
}

}  // namespace deberta
