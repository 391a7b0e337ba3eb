// The peak of AVX512_BF16: products of 32 pairs of bf16. Only C headers and types here (docs/concepts/kernels.md).
#include "kernels/x86/peak.inc.h"

namespace deberta {
namespace {

DEBERTA_CHAINS_512(run, "vdpbf16ps %%zmm30, %%zmm31, %%zmm")

constexpr PeakKernels kKernels = {.bf16 = {.operations = kChains512 * 64, .run = run}};

}  // namespace

const PeakKernels& peak_avx512bf16_kernels() {
  return kKernels;
}

}  // namespace deberta
