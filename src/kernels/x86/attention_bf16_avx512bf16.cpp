// Attention in bf16 with AVX512_BF16: tiles of 6 x 64, two numbers a lane and step (vdpbf16ps). Only intrinsics, C
// headers and types here (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/attention_kernel.h"
#include "kernels/x86/vectors_avx512.inc.h"

namespace deberta {
namespace {
constexpr size_t kRowsSkippingZeros = 6;
constexpr size_t kTileVectors = 4;
constexpr size_t kBlock = 96;   // queries or keys: whole tiles, whole vectors, whole pairs of 16
constexpr size_t kDepth = 256;  // keys of a step of P V: their values stay in L1
}  // namespace
}  // namespace deberta

#include "kernels/x86/attention_bf16.inc.h"
#include "kernels/x86/register_tile_bf16.inc.h"

namespace deberta {
namespace {

template <bool kSkipsZeros>
struct Packs : Bf16Pairs {
  static_assert(!kSkipsZeros, "values that a mask leaves out are zeros");
};

inline void begin_products() {}
inline void end_products() {}

}  // namespace
}  // namespace deberta

#include "kernels/x86/attention_register_tile.inc.h"
// The rest builds on the operands and their product.
#include "kernels/x86/attention.inc.h"

namespace deberta {
const AttentionKernel& attention_bf16_avx512bf16_kernel() {
  return kKernel;
}
}  // namespace deberta
