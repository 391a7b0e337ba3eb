// Attention in fp32 with AVX2, and of bf16 widened: tiles of 6 x 16. Only intrinsics, C headers and types here
// (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/attention_kernel.h"
#include "kernels/x86/vectors_avx2.inc.h"

namespace deberta {
namespace {
constexpr size_t kRowsSkippingZeros = 4;
constexpr size_t kTileVectors = 2;
constexpr size_t kBlock = 48;  // queries or keys: whole tiles and whole vectors
}  // namespace
}  // namespace deberta

#include "kernels/x86/attention_fp32.inc.h"
#include "kernels/x86/attention_register_tile.inc.h"
// The rest builds on the operands and their product.
#include "kernels/x86/attention.inc.h"

namespace deberta {
const AttentionKernel& attention_fp32_avx2_kernel() {
  return kKernel;
}
}  // namespace deberta
