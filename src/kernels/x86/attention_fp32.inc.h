// Operands of products in fp32: inputs in place, or widened from bf16 block by block; probabilities in fp32. Included
// after vectors_<isa>.inc.h.

#include "kernels/x86/attention_scores.inc.h"
#include "kernels/x86/register_tile.inc.h"

namespace deberta {
namespace {

using Number = float;              // element of a left operand
constexpr size_t kPack = 1;        // numbers that one column of a right operand holds side by side
constexpr size_t kKeyUnit = 16;    // keys are padded to this in scratch
constexpr size_t kDepth = 128;     // keys of a step of P V: their values stay in L1
constexpr bool kPadsKeys = false;  // P V stops at the last key

}  // namespace
}  // namespace deberta

#include "kernels/x86/attention_product.inc.h"

namespace deberta {
namespace {

template <bool kSkipsZeros>
struct Packs : Fp32 {
  static void add(Vector& sum, Vector left, Vector right) {
    sum = kSkipsZeros ? fma_unless_zero(left, right, sum) : fma(left, right, sum);
  }
};

inline size_t left_bytes(const AttentionExtent& e) {
  return e.is_bf16 ? kBlock * e.head_size * sizeof(float) : 0;
}
inline size_t value_bytes(const AttentionExtent& e, size_t keys) {
  return e.is_bf16 ? keys * e.head_size * sizeof(float) : 0;
}

inline void widen(const AttentionTask& t, const void* data, size_t stride, size_t begin, size_t end, float* wide) {
  for (size_t row = begin; row < end; ++row) {
    const uint16_t* from = (const uint16_t*)data + row * stride;
    float* to = wide + (row - begin) * t.head_size;
    for (size_t i = 0; i < t.head_size; i += kLanes) store(to + i, from_bf16(load_halves(from + i)));
  }
}

// Rows begin .. end of an input.
inline Left left_of(const AttentionTask& t, const void* data, size_t stride, size_t begin, size_t end, void* copy) {
  if (!t.is_bf16) return {(const float*)data + begin * stride, stride};
  widen(t, data, stride, begin, end, (float*)copy);
  return {(const float*)copy, t.head_size};
}

inline void prepare_values(const AttentionTask& t, size_t begin, size_t end, void* values) {
  if (t.is_bf16) widen(t, t.v, t.v_stride, begin, end, (float*)values + begin * t.head_size);
}
inline Right values_of(const AttentionTask& t, const void* values) {
  return t.is_bf16 ? Right{(const float*)values, t.head_size} : Right{(const float*)t.v, t.v_stride};
}

// Probabilities take the place of their scores.
inline void put_probabilities(float* s_S, size_t j, Vector p) {
  store(s_S + j, p);
}

inline void begin_products() {}
inline void end_products() {}

}  // namespace
}  // namespace deberta
