// The gradient of attention in bf16 with AVX512_BF16: tiles of 6 x 64, two numbers a lane and step (vdpbf16ps). Only
// intrinsics, C headers and types here (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/attention_backward_kernel.h"
#include "kernels/x86/vectors_avx512.inc.h"

namespace deberta {
namespace {
constexpr size_t kTileVectors = 4;
constexpr size_t kBlock = 96;   // queries or keys: whole tiles, whole vectors, whole pairs of 16
constexpr size_t kDepth = 256;  // keys of a step of a sum over them: their numbers stay in L1
constexpr size_t kColumnEdges = 48, kPairEdge = 0, kPositionUnit = 2;
}  // namespace
}  // namespace deberta

#include "kernels/x86/attention_bf16.inc.h"
#include "kernels/x86/register_tile_bf16.inc.h"

namespace deberta {
namespace {

constexpr size_t kRowsSkippingZeros = 6;
template <bool kSkipsZeros>
struct Packs : Bf16Pairs {
  static_assert(!kSkipsZeros, "what a mask leaves out is zeros");
};

inline void begin_products() {}
inline void end_products() {}

}  // namespace
}  // namespace deberta

#include "kernels/x86/attention_register_tile.inc.h"
// The rest builds on the operands and their product.
#include "kernels/x86/attention_backward_bf16.inc.h"

namespace deberta {
const AttentionBackwardKernel& attention_backward_bf16_avx512bf16_kernel() {
  return kBackwardKernel;
}
}  // namespace deberta
