// The peaks of AVX-512: fused multiply-adds of 16 lanes; sums of products of 32 pairs. Only C headers and types here
// (docs/concepts/kernels.md).
#include "kernels/x86/peak.inc.h"

namespace deberta {
namespace {

DEBERTA_CHAINS_512(run_fp32, "vfmadd231ps %%zmm30, %%zmm31, %%zmm")
DEBERTA_CHAINS_512(run_int8, "vpmaddwd %%zmm30, %%zmm31, %%zmm29\nvpaddd %%zmm29, %%zmm\\n, %%zmm")

constexpr PeakKernels kKernels = {.fp32 = {.operations = kChains512 * 32, .run = run_fp32},
                                  .int8 = {.operations = kChains512 * 64, .run = run_int8}};

}  // namespace

const PeakKernels& peak_avx512_kernels() {
  return kKernels;
}

}  // namespace deberta
