// Operands of products in bf16: a column holds two numbers of neighbouring depth. Left rows are copied and padded with
// zero rows to whole tiles, values are interleaved, probabilities are rounded to bf16 in the place of their scores.
// AVX-512 and its BF16 part; included after vectors_avx512.inc.h.

#include "kernels/x86/attention_scores.inc.h"

namespace deberta {
namespace {

using Number = uint16_t;          // element of a left operand
constexpr size_t kPack = 2;       // numbers that one column of a right operand holds side by side
constexpr size_t kKeyUnit = 32;   // keys are padded to this: a tile's depth
constexpr bool kPadsKeys = true;  // with probabilities and values of zero

}  // namespace
}  // namespace deberta

#include "kernels/x86/attention_product.inc.h"

namespace deberta {
namespace {

inline size_t left_bytes(const AttentionExtent& e) {
  return kBlock * e.head_size * sizeof(Number);
}
inline size_t value_bytes(const AttentionExtent& e, size_t keys) {
  return keys * e.head_size * sizeof(Number);
}

inline Left left_of(const AttentionTask& t, const void* data, size_t stride, size_t begin, size_t end, void* copy) {
  uint16_t* to = (uint16_t*)copy;
  for (size_t row = begin; row < begin + round_up(end - begin, kUnit); ++row, to += t.head_size) {
    const uint16_t* from = (const uint16_t*)data + row * stride;
    for (size_t i = 0; i < t.head_size; i += 32)
      _mm512_storeu_si512(to + i, row < end ? _mm512_loadu_si512(from + i) : _mm512_setzero_si512());
  }
  return {(const uint16_t*)copy, t.head_size};
}

// A row of k or v; null, for zeros, for a key that does not exist or that the mask leaves out.
inline const uint16_t* key_row(const AttentionTask& t, const void* data, size_t stride, int64_t key) {
  if (key < 0 || key >= static_cast<int64_t>(t.keys) || (t.key_mask != nullptr && t.key_mask[key] == 0)) return nullptr;
  return (const uint16_t*)data + static_cast<size_t>(key) * stride;
}

// [size][2]; rows that are null are zeros.
inline void interleave_rows(const uint16_t* low, const uint16_t* high, size_t size, uint16_t* to) {
  __m512i low_half = _mm512_setzero_si512();  // words 0, 32, 1, 33, ... of two registers, and 16, 48, 17, 49, ...
  for (unsigned pair = 0; pair < 16; ++pair)
    low_half = _mm512_mask_set1_epi32(low_half, static_cast<__mmask16>(1u << pair),
                                      static_cast<int>(pair | (pair + 32) << 16));
  const __m512i high_half = _mm512_add_epi16(low_half, _mm512_set1_epi16(16));
  for (size_t i = 0; i < size; i += 32) {
    const __m512i a = low != nullptr ? _mm512_loadu_si512(low + i) : _mm512_setzero_si512();
    const __m512i b = high != nullptr ? _mm512_loadu_si512(high + i) : _mm512_setzero_si512();
    _mm512_storeu_si512(to + 2 * i, _mm512_permutex2var_epi16(a, low_half, b));
    _mm512_storeu_si512(to + 2 * i + 32, _mm512_permutex2var_epi16(a, high_half, b));
  }
}

// [key / 2][head_size][2]
inline void prepare_values(const AttentionTask& t, size_t begin, size_t end, void* values) {
  for (size_t key = begin; key < round_up(end, kKeyUnit); key += 2) {
    const auto first = static_cast<int64_t>(key);
    interleave_rows(key_row(t, t.v, t.v_stride, first), key_row(t, t.v, t.v_stride, first + 1), t.head_size,
                    (uint16_t*)values + key * t.head_size);
  }
}
inline Right values_of(const AttentionTask& t, const void* values) {
  return {(const float*)values, t.head_size};
}

inline void put_probabilities(float* s_S, size_t j, Vector p) {
  _mm256_storeu_si256((__m256i*)((uint16_t*)s_S + j), (__m256i)_mm512_cvtneps_pbh(p));
}

}  // namespace
}  // namespace deberta
