// The peak of AVX512_VNNI: products of 64 bytes. Only C headers and types here (docs/concepts/kernels.md).
#include "kernels/x86/peak.inc.h"

namespace deberta {
namespace {

DEBERTA_CHAINS_512(run, "vpdpbusd %%zmm30, %%zmm31, %%zmm")

constexpr PeakKernels kKernels = {.int8 = {.operations = kChains512 * 128, .run = run}};

}  // namespace

const PeakKernels& peak_avx512vnni_kernels() {
  return kKernels;
}

}  // namespace deberta
