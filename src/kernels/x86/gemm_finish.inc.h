// The epilogue of GEMM, included by gemm_finish_<isa>.cpp after vectors_<isa>.inc.h and add_as_float. A vector of the
// tile is read whole (its rows are padded); everything else is read and written through a buffer of kLanes when columns
// end within a vector.
#include "kernels/x86/activation.inc.h"

namespace deberta {
namespace {

// count is kLanes when kWhole, else less.
template <bool kWhole>
DEBERTA_INLINE Vector load_some(const float* p, size_t count) {
  if constexpr (kWhole) return load(p);
  float buffer[kLanes] = {};
  for (size_t i = 0; i < count; ++i) buffer[i] = p[i];
  return load(buffer);
}

template <bool kWhole>
DEBERTA_INLINE void store_some(const GemmFinish& f, size_t at, Vector y, size_t count) {
  if constexpr (kWhole) {
    f.c_MN != nullptr ? store(f.c_MN + at, y) : store_halves(f.c_bf16_MN + at, to_bf16(y));
  } else if (f.c_MN != nullptr) {
    float buffer[kLanes];
    store(buffer, y);
    for (size_t i = 0; i < count; ++i) f.c_MN[at + i] = buffer[i];
  } else {
    uint16_t buffer[kLanes];
    store_halves(buffer, to_bf16(y));
    for (size_t i = 0; i < count; ++i) f.c_bf16_MN[at + i] = buffer[i];
  }
}

DEBERTA_INLINE float from_bf16_bits(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float x;
  __builtin_memcpy(&x, &wide, sizeof x);
  return x;
}

template <bool kWhole>
DEBERTA_INLINE Vector dequantize(const GemmFinish& f, size_t m, size_t n, size_t count) {
  const int32_t* sums = static_cast<const int32_t*>(f.tile_MW) + m * f.tile_stride + n;
  const int32_t* compensation = f.compensation_N + n;
  int32_t buffer[kLanes] = {};
  if constexpr (!kWhole) {
    for (size_t i = 0; i < count; ++i) buffer[i] = compensation[i];
    compensation = buffer;
  }
  Vector y = multiply(multiply(add_as_float(sums, compensation), all(f.a_scales_M[m])),
                      load_some<kWhole>(f.w_scales_N + n, count));
  for (size_t o = 0; o < f.outliers; ++o) {
    const float a = from_bf16_bits(f.side_a_MO[m * f.outliers + o]);
    y = fma(all(a), load_some<kWhole>(f.side_w_ON + o * f.side_stride + n, count), y);
  }
  return y;
}

template <bool kInt8, int kActivation, bool kWhole>
DEBERTA_INLINE void finish_vector(const GemmFinish& f, size_t m, size_t n, size_t count) {
  Vector y = zero();
  if constexpr (kInt8) {
    y = dequantize<kWhole>(f, m, n, count);
  } else {
    y = load(static_cast<const float*>(f.tile_MW) + m * f.tile_stride + n);
  }
  if (f.bias_N != nullptr) y = add(y, load_some<kWhole>(f.bias_N + n, count));
  if constexpr (kActivation == 1) y = gelu(y);
  if constexpr (kActivation == 2) y = max(y, zero());
  if constexpr (kActivation == 3) y = gelu_tanh(y);
  if constexpr (kActivation == 4) y = quick_gelu(y);
  if constexpr (kActivation == 5) y = swish(y);
  if (f.residual_MN != nullptr) y = add(y, load_some<kWhole>(f.residual_MN + m * f.residual_stride + n, count));
  store_some<kWhole>(f, m * f.c_stride + n, y, count);
}

template <bool kInt8, int kActivation>
void finish_rows(const GemmFinish& f) {
  const size_t whole = f.columns / kLanes * kLanes;
  for (size_t m = 0; m < f.rows; ++m) {
    for (size_t n = 0; n < whole; n += kLanes) finish_vector<kInt8, kActivation, true>(f, m, n, kLanes);
    if (whole < f.columns) finish_vector<kInt8, kActivation, false>(f, m, whole, f.columns - whole);
  }
}

template <int kActivation>
void finish_as(const GemmFinish& f) {
  f.compensation_N != nullptr ? finish_rows<true, kActivation>(f) : finish_rows<false, kActivation>(f);
}

// The numbers are those of vector_activation() (activation.h).
void finish(const GemmFinish& f) {
  constexpr void (*kForms[])(const GemmFinish&) = {finish_as<0>, finish_as<1>, finish_as<2>,
                                                   finish_as<3>, finish_as<4>, finish_as<5>};
  kForms[f.activation](f);
}

}  // namespace
}  // namespace deberta
