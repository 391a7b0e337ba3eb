// The epilogue of GEMM, included by gemm_finish_<isa>.cpp after vectors_<isa>.inc.h and add_as_float. A vector of the
// tile is read whole (its rows are padded); everything else is read and written through a buffer of kLanes when columns
// end within a vector.
#include "kernels/x86/exp2.inc.h"

#define DEBERTA_INLINE inline __attribute__((always_inline))

namespace deberta {
namespace {

// x/2 (1 + erf(x / sqrt 2)) = max(x, 0) - |x|/2 erfc(|x| / sqrt 2), log2 of erfc a polynomial in |x| of degree 8
// (fitted to the smallest absolute error of the product): error at most 9e-8 max(1, |x|).
DEBERTA_INLINE Vector gelu(Vector x) {
  const Vector a = absolute(x);
  Vector p = fma(all(-1.9020654917767388e-06f), a, all(2.805693839036394e-05f));
  p = fma(p, a, all(-0.00013147320714779198f));
  p = fma(p, a, all(-0.0002720757620409131f));
  p = fma(p, a, all(0.007245421409606934f));
  p = fma(p, a, all(-0.05262761190533638f));
  p = fma(p, a, all(-0.4591621458530426f));
  p = fma(p, a, all(-1.1511110067367554f));
  return subtract(max(x, zero()), multiply(multiply(all(0.5f), a), exp2_of(multiply(p, a))));
}

// x sigmoid(z) for a z of x's sign, from t = -|z| log2(e): with e = 2^t it is x / (1 + e) above 0 and x e / (1 + e)
// below.
DEBERTA_INLINE Vector gated(Vector x, Vector t) {
  const Vector e = exp2_of(t);
  const Vector positive = max(x, zero());
  return divide(fma(subtract(x, positive), e, positive), add(all(1.0f), e));
}

// The tanh form of GELU: (1 + tanh(u)) / 2 is sigmoid(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3).
DEBERTA_INLINE Vector gelu_tanh(Vector x) {
  const Vector a = absolute(x);
  return gated(x, multiply(a, fma(multiply(all(-0.10294324f), a), a, all(-2.3022082f))));
}

DEBERTA_INLINE Vector quick_gelu(Vector x) {
  return gated(x, multiply(all(-2.4554670f), absolute(x)));
}

DEBERTA_INLINE Vector swish(Vector x) {
  return gated(x, multiply(all(-1.4426950f), absolute(x)));
}

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

// The numbers are those of vector_activation() in gemm.cpp.
void finish(const GemmFinish& f) {
  constexpr void (*kForms[])(const GemmFinish&) = {finish_as<0>, finish_as<1>, finish_as<2>,
                                                   finish_as<3>, finish_as<4>, finish_as<5>};
  kForms[f.activation](f);
}

}  // namespace
}  // namespace deberta
