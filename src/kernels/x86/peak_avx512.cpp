// The peak of AVX-512: fused multiply-adds of 16 lanes. Only C headers and types here (docs/kernels.md).
#define DEBERTA_PRODUCT "vfmadd231ps"
#include "kernels/x86/peak_avx512.inc.h"

namespace deberta {
namespace {
constexpr PeakKernel kKernel = {kChains * 32, run};
}  // namespace

const PeakKernel& peak_avx512_kernel() {
  return kKernel;
}
}  // namespace deberta
