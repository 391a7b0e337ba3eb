// The peak of AVX-512 VNNI: products of 64 bytes. Only C headers and types here (docs/kernels.md).
#include "kernels/x86/peak_avx512.inc.h"

namespace deberta {
namespace {

DEBERTA_CHAINS(run, "vpdpbusd %%zmm30, %%zmm31, %%zmm")

constexpr PeakKernel kKernel = {kChains * 128, run};

}  // namespace

const PeakKernel& peak_avx512_vnni_kernel() {
  return kKernel;
}

}  // namespace deberta
