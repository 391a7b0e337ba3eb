// Products in vector registers, of GEMM and attention: a tile of rows x (vectors * kLanes) sums, one chain each in
// ascending k, so that a row's bits do not depend on the rows around it. One broadcast of A feeds the vectors of a step
// of B: 6 x 64 with AVX-512 is 24 sums + 4 of B + 1 of 32 registers, 6 x 16 with AVX2 12 + 2 + 1 of 16. Included after
// vectors_<isa>.inc.h.
//
// A step of k is a pack of 4 bytes. A Product says what one is: the Number that rows of A are made of, kPack of them in
// a pack, broadcast(pack), add(sum, left, right). Sums are 32-bit lanes of whatever `add` adds.
#pragma once

namespace deberta {
namespace {

template <size_t kRows, size_t kVectors>
inline void clear(Vector (&sums)[kRows][kVectors]) {
  DEBERTA_UNROLL
  for (size_t m = 0; m < kRows; ++m) {
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) sums[m][v] = zero();
  }
}

template <size_t kRows, size_t kVectors>
inline void load_sums(Vector (&sums)[kRows][kVectors], const float* c, size_t stride) {
  DEBERTA_UNROLL
  for (size_t m = 0; m < kRows; ++m) {
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) sums[m][v] = load(c + m * stride + v * kLanes);
  }
}

template <size_t kRows, size_t kVectors>
inline void store_sums(const Vector (&sums)[kRows][kVectors], float* c, size_t stride) {
  DEBERTA_UNROLL
  for (size_t m = 0; m < kRows; ++m) {
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) store(c + m * stride + v * kLanes, sums[m][v]);
  }
}

// Strides: of A in numbers, of B in packs. `at_step` is called once a step.
template <class Product, size_t kRows, size_t kVectors, class AtStep>
inline void add_products(Vector (&sums)[kRows][kVectors], const typename Product::Number* a, size_t a_stride,
                         const float* b, size_t b_stride, size_t steps, AtStep at_step) {
  for (size_t k = 0; k < steps; ++k, a += Product::kPack, b += b_stride) {
    at_step();
    Vector right[kVectors];
    DEBERTA_UNROLL
    for (size_t v = 0; v < kVectors; ++v) right[v] = load(b + v * kLanes);
    DEBERTA_UNROLL
    for (size_t m = 0; m < kRows; ++m) {
      const Vector left = Product::broadcast(a + m * a_stride);
      DEBERTA_UNROLL
      for (size_t v = 0; v < kVectors; ++v) Product::add(sums[m][v], left, right[v]);
    }
  }
}

struct Fp32 {
  using Number = float;
  static constexpr size_t kPack = 1;
  static Vector broadcast(const float* a) { return deberta::broadcast(a); }
  static void add(Vector& sum, Vector left, Vector right) { sum = fma(left, right, sum); }
};

}  // namespace
}  // namespace deberta
