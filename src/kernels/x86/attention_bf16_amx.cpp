// Attention in bf16 with AMX: tiles of 16 x 16 with a depth of 32, two by two. Only intrinsics, C headers and types
// here (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/attention_kernel.h"
#include "kernels/x86/vectors_avx512.inc.h"

namespace deberta {
namespace {
constexpr size_t kBlock = 64;   // queries or keys: two pairs of tiles
constexpr size_t kDepth = 512;  // keys of a step of P V
}  // namespace
}  // namespace deberta

#include "kernels/x86/attention_amx_tile.inc.h"
// The rest builds on the operands and their product.
#include "kernels/x86/attention.inc.h"

namespace deberta {
const AttentionKernel& attention_bf16_amx_kernel() {
  return kKernel;
}
}  // namespace deberta
