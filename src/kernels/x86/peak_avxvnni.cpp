// The peak of AVX-VNNI: products of 32 bytes. Only C headers and types here (docs/concepts/kernels.md).
#include "kernels/x86/peak.inc.h"

namespace deberta {
namespace {

DEBERTA_CHAINS_256(run, "%{vex%} vpdpbusd %%ymm14, %%ymm15, %%ymm")

constexpr PeakKernels kKernels = {.int8 = {.operations = kChains256 * 64, .run = run}};

}  // namespace

const PeakKernels& peak_avxvnni_kernels() {
  return kKernels;
}

}  // namespace deberta
