// Operations on one row, included by row_operations_<isa>.cpp after it has defined All, Part and the loads and stores
// of them on top of vectors_<isa>.inc.h. A row of a model (384 to 6144 columns) lies in the first-level cache, so
// passes over it are cheap and nothing is kept between them but a few registers. Sums run in four accumulators and end
// in one fixed tree: the bits depend on the row and its number of columns alone. Tails are masked: nothing beyond a
// row is read or written.
#include "kernels/x86/activation.inc.h"

namespace deberta {
namespace {

constexpr size_t kSums = 4;

inline double square_root(double x) {
  return _mm_cvtsd_f64(_mm_sqrt_sd(_mm_setzero_pd(), _mm_set_sd(x)));
}
inline __m128i shifted_bytes(Vector v) {  // rint + 128, of -127 .. 127
  return _mm_xor_si128(to_int8(v), _mm_set1_epi8(static_cast<char>(0x80)));
}
inline Vector keep(Vector v, All) {
  return v;
}
inline Vector load(const float* p, All) {
  return load(p);
}
inline void store(float* p, Vector v, All) {
  store(p, v);
}
inline Halves load_halves(const uint16_t* p, All) {
  return load_halves(p);
}
inline void store_halves(uint16_t* p, Halves halves, All) {
  store_halves(p, halves);
}
inline void store_bytes(uint8_t* p, __m128i bytes, All) {
  store_bytes(p, bytes);
}

// body(column, accumulator, All or Part) over the vectors of a row.
template <class Body>
inline void each_vector(size_t columns, Body body) {
  size_t d = 0;
  for (; d + kSums * kLanes <= columns; d += kSums * kLanes) {
    body(d, 0, All{});
    body(d + kLanes, 1, All{});
    body(d + 2 * kLanes, 2, All{});
    body(d + 3 * kLanes, 3, All{});
  }
  for (; d + kLanes <= columns; d += kLanes) body(d, 0, All{});
  if (d < columns) body(d, 0, Part{columns - d});
}

struct Sums {
  Vector v[kSums] = {zero(), zero(), zero(), zero()};
  float total() const { return sum(add(add(v[0], v[1]), add(v[2], v[3]))); }
};

template <bool kHasResidual>
void norm_row(const NormRow& row) {
  const auto z = [&](size_t d, auto part) {
    const Vector x = load(row.x_D + d, part);
    return kHasResidual ? add(x, load(row.residual_D + d, part)) : x;
  };
  const float count = static_cast<float>(row.columns);
  Sums sums;
  each_vector(row.columns, [&](size_t d, size_t i, auto part) { sums.v[i] = add(sums.v[i], z(d, part)); });
  const Vector mean = all(sums.total() / count);
  Sums squares;
  each_vector(row.columns, [&](size_t d, size_t i, auto part) {
    const Vector difference = keep(subtract(z(d, part), mean), part);
    squares.v[i] = fma(difference, difference, squares.v[i]);
  });
  const double variance = static_cast<double>(squares.total()) / static_cast<double>(row.columns);
  const float one_over_deviation = static_cast<float>(1.0 / square_root(variance + row.epsilon));
  const Vector inverse = all(one_over_deviation);
  if (row.statistics != nullptr) {
    row.statistics[0] = sums.total() / count;
    row.statistics[1] = one_over_deviation;
  }
  each_vector(row.columns, [&](size_t d, size_t, auto part) {
    const Vector scaled = multiply(subtract(z(d, part), mean), inverse);
    store(row.y_D + d, fma(scaled, load(row.gamma_D + d, part), load(row.beta_D + d, part)), part);
  });
}

void norm(const NormRow& row) {
  if (row.z_D != nullptr && row.residual_D != nullptr) {  // first: y may be x
    each_vector(row.columns, [&](size_t d, size_t, auto part) {
      store(row.z_D + d, add(load(row.x_D + d, part), load(row.residual_D + d, part)), part);
    });
    NormRow summed = row;
    summed.x_D = row.z_D;
    return norm_row<false>(summed);
  }
  if (row.z_D != nullptr && row.z_D != row.x_D) {
    each_vector(row.columns, [&](size_t d, size_t, auto part) { store(row.z_D + d, load(row.x_D + d, part), part); });
  }
  if (row.residual_D != nullptr) return norm_row<true>(row);
  norm_row<false>(row);
}

void narrow(const float* x, uint16_t* y_bf16, size_t columns) {
  each_vector(columns,
              [&](size_t d, size_t, auto part) { store_halves(y_bf16 + d, to_bf16(load(x + d, part)), part); });
}

void widen(const uint16_t* x_bf16, float* y, size_t columns) {
  each_vector(columns,
              [&](size_t d, size_t, auto part) { store(y + d, from_bf16(load_halves(x_bf16 + d, part)), part); });
}

template <class Load>
uint32_t largest_of(const ScaledRow& row, Load load_x) {
  Bits largest = no_bits();
  if (row.reciprocal_K == nullptr) {
    each_vector(row.columns,
                [&](size_t k, size_t, auto part) { largest = max_bits(largest, magnitude(load_x(k, part))); });
  } else {
    each_vector(row.columns, [&](size_t k, size_t, auto part) {
      largest = max_bits(largest, magnitude(multiply(load_x(k, part), load(row.reciprocal_K + k, part))));
    });
  }
  return max_lanes(largest);
}

uint32_t largest(const ScaledRow& row) {
  if (row.x_K != nullptr) return largest_of(row, [&](size_t k, auto part) { return load(row.x_K + k, part); });
  return largest_of(row, [&](size_t k, auto part) { return from_bf16(load_halves(row.x_bf16_K + k, part)); });
}

// Two products, rounded one after the other, on every instruction set: bytes must not depend on it.
template <class Load>
void to_bytes_of(const ScaledRow& row, float factor, uint8_t* y, Load load_x) {
  const Vector factors = all(factor);
  if (row.reciprocal_K == nullptr) {
    each_vector(row.columns, [&](size_t k, size_t, auto part) {
      store_bytes(y + k, shifted_bytes(multiply(load_x(k, part), factors)), part);
    });
  } else {
    each_vector(row.columns, [&](size_t k, size_t, auto part) {
      const Vector x = multiply(load_x(k, part), load(row.reciprocal_K + k, part));
      store_bytes(y + k, shifted_bytes(multiply(x, factors)), part);
    });
  }
}

void to_bytes(const ScaledRow& row, float factor, uint8_t* y) {
  if (row.x_K != nullptr) {
    return to_bytes_of(row, factor, y, [&](size_t k, auto part) { return load(row.x_K + k, part); });
  }
  to_bytes_of(row, factor, y, [&](size_t k, auto part) { return from_bf16(load_halves(row.x_bf16_K + k, part)); });
}

template <class Step>
inline Vector load_as(int format, const void* row, size_t e, Step part) {
  const uint16_t* halves = static_cast<const uint16_t*>(row);
  if (format == 0) return load(static_cast<const float*>(row) + e, part);
  const Halves x = load_halves(halves + e, part);
  return format == 1 ? from_half(x) : from_bf16(x);
}

void sum(const SumRow& row) {
  each_vector(row.columns, [&](size_t e, size_t, auto part) {
    Vector x = load_as(row.formats[0], row.rows[0], e, part);
    for (size_t i = 1; i < row.count; ++i) x = add(x, load_as(row.formats[i], row.rows[i], e, part));
    store(row.x_E + e, x, part);
  });
}

}  // namespace
}  // namespace deberta

#include "kernels/x86/row_gradients.inc.h"

namespace deberta {
namespace {

constexpr RowKernel kKernel = {.norm = norm,
                               .narrow = narrow,
                               .widen = widen,
                               .largest = largest,
                               .to_bytes = to_bytes,
                               .sum = sum,
                               .norm_gradient = norm_gradient,
                               .drop = drop,
                               .activate = activate,
                               .activate_gradient = activate_gradient,
                               .largest_number = largest_number,
                               .scale = scale,
                               .exponentials = exponentials};

}  // namespace
}  // namespace deberta
