// 2^x for x <= 0, for the softmax and GELU. Included after vectors_<isa>.inc.h.
#pragma once

namespace deberta {
namespace {

// 2^round(x) times a polynomial on [-1/2, 1/2]: to a relative error of 1e-7. Below -126 it is 2^-126, not 0. A NaN
// stays one.
inline __attribute__((always_inline)) Vector exp2_of(Vector x) {
  const Vector magic = all(12582912.0f + 127.0f);  // its last mantissa bit is worth 1; adding it rounds
  x = max(all(-126.0f), x);
  const Vector shifted = add(x, magic);
  const Vector f = subtract(x, subtract(shifted, magic));
  Vector p = fma(all(0.00132765f), f, all(0.00967554f));
  p = fma(p, f, all(0.05550713f));
  p = fma(p, f, all(0.24022120f));
  p = fma(p, f, all(0.69314697f));
  p = fma(p, f, all(1.00000007f));
  return multiply(p, power_of_two(shifted));
}

}  // namespace
}  // namespace deberta
