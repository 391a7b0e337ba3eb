// Activations that vectors compute, and their slopes. Included after vectors_<isa>.inc.h.
#pragma once
#include "kernels/x86/exp2.inc.h"

#define DEBERTA_INLINE inline __attribute__((always_inline))

namespace deberta {
namespace {

// erfc(a / sqrt 2), a >= 0: its log2 is a polynomial of degree 8, fitted to the smallest absolute error of gelu().
DEBERTA_INLINE Vector erfc_of(Vector a) {
  Vector p = fma(all(-1.9020654917767388e-06f), a, all(2.805693839036394e-05f));
  p = fma(p, a, all(-0.00013147320714779198f));
  p = fma(p, a, all(-0.0002720757620409131f));
  p = fma(p, a, all(0.007245421409606934f));
  p = fma(p, a, all(-0.05262761190533638f));
  p = fma(p, a, all(-0.4591621458530426f));
  p = fma(p, a, all(-1.1511110067367554f));
  return exp2_of(multiply(p, a));
}

// x/2 (1 + erf(x / sqrt 2)) = max(x, 0) - |x|/2 erfc(|x| / sqrt 2): error at most 9e-8 max(1, |x|).
DEBERTA_INLINE Vector gelu(Vector x) {
  const Vector a = absolute(x);
  return subtract(max(x, zero()), multiply(multiply(all(0.5f), a), erfc_of(a)));
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

// All these have f(x) = x + f(-x): the slope at |x| is 1 minus the one at -|x|. Beyond `most` nothing changes but that
// the slope's product with x would overflow.
DEBERTA_INLINE Vector slope_from_lower(Vector x, Vector lower) {
  return select(is_negative(x), lower, subtract(all(1.0f), lower));
}
DEBERTA_INLINE Vector absolute_at_most(Vector x, float most) {
  return subtract(zero(), max(all(-most), subtract(zero(), absolute(x))));
}

// Phi(-a) - a phi(a), Phi and phi the normal distribution and its density; Phi(-a) = erfc(a / sqrt 2) / 2.
DEBERTA_INLINE Vector gelu_slope(Vector x) {
  const Vector a = absolute_at_most(x, 15.0f);
  const Vector density = multiply(all(0.39894228f), exp2_of(multiply(multiply(all(-0.72134752f), a), a)));
  return slope_from_lower(x, subtract(multiply(all(0.5f), erfc_of(a)), multiply(a, density)));
}

// f = x sigmoid(z), at x = -a: e q (1 - a z' q), e = 2^t, t = -|z| log2(e), q = 1 / (1 + e), z' the slope of z at a.
DEBERTA_INLINE Vector gated_slope(Vector x, Vector a, Vector t, Vector slope_of_z) {
  const Vector e = exp2_of(t);
  const Vector q = divide(all(1.0f), add(all(1.0f), e));
  const Vector less = subtract(all(1.0f), multiply(multiply(a, slope_of_z), q));
  return slope_from_lower(x, multiply(multiply(e, q), less));
}

DEBERTA_INLINE Vector gelu_tanh_slope(Vector x) {
  const Vector a = absolute_at_most(x, 100.0f);
  const Vector t = multiply(a, fma(multiply(all(-0.10294324f), a), a, all(-2.3022082f)));
  return gated_slope(x, a, t, fma(multiply(all(0.21406459f), a), a, all(1.5957691f)));
}

DEBERTA_INLINE Vector quick_gelu_slope(Vector x) {
  const Vector a = absolute_at_most(x, 100.0f);
  return gated_slope(x, a, multiply(all(-2.4554670f), a), all(1.702f));
}

DEBERTA_INLINE Vector swish_slope(Vector x) {
  const Vector a = absolute_at_most(x, 100.0f);
  return gated_slope(x, a, multiply(all(-1.4426950f), a), all(1.0f));
}

}  // namespace
}  // namespace deberta
