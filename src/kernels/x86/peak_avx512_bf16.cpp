// The peak of AVX-512 BF16: products of 32 pairs of bf16. Only C headers and types here (docs/kernels.md).
#include "kernels/x86/peak_avx512.inc.h"

namespace deberta {
namespace {

DEBERTA_CHAINS(run, "vdpbf16ps %%zmm30, %%zmm31, %%zmm")

constexpr PeakKernel kKernel = {kChains * 64, run};

}  // namespace

const PeakKernel& peak_avx512_bf16_kernel() {
  return kKernel;
}

}  // namespace deberta
