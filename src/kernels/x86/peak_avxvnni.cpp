// The peak of AVX-VNNI: products of 32 bytes. Only C headers and types here (docs/kernels.md).
#include "kernels/x86/peak_avx2.inc.h"

namespace deberta {
namespace {

DEBERTA_CHAINS(run, "%{vex%} vpdpbusd %%ymm14, %%ymm15, %%ymm")

constexpr PeakKernel kKernel = {kChains * 64, run};

}  // namespace

const PeakKernel& peak_avxvnni_kernel() {
  return kKernel;
}

}  // namespace deberta
