// What training adds to row_operations.inc.h, which includes this file: the gradient of a norm, activations and their
// gradients, dropout, exponentials of logits.
#include "kernels/x86/dropout.inc.h"

namespace deberta {
namespace {

// Lanes beyond a row are zeros in g, so they add nothing.
void norm_gradient(const NormGradientRow& row) {
  const Vector mean = all(row.mean), inverse = all(row.inverse);
  const auto normed = [&](size_t d, auto part) { return multiply(subtract(load(row.z_D + d, part), mean), inverse); };
  Sums sums, products;
  each_vector(row.columns, [&](size_t d, size_t i, auto part) {
    const Vector g = multiply(load(row.dy_D + d, part), load(row.gamma_D + d, part));
    sums.v[i] = add(sums.v[i], g);
    products.v[i] = fma(g, normed(d, part), products.v[i]);
  });
  const float count = static_cast<float>(row.columns);
  const Vector mean_g = all(sums.total() / count), mean_gn = all(products.total() / count);
  each_vector(row.columns, [&](size_t d, size_t, auto part) {
    const Vector dy = load(row.dy_D + d, part), n = normed(d, part);
    const Vector g = multiply(dy, load(row.gamma_D + d, part));
    store(row.dgamma_D + d, fma(dy, n, load(row.dgamma_D + d, part)), part);
    store(row.dbeta_D + d, add(dy, load(row.dbeta_D + d, part)), part);
    store(row.dz_D + d, multiply(inverse, subtract(subtract(g, mean_g), multiply(n, mean_gn))), part);
  });
}

void drop(const DroppedRow& row) {
  uint16_t bits_by_16[kMostDropped / 16 + kLanes / 2];
  keep_bits(row.dropout, row.position, row.columns, bits_by_16);
  const Vector kept = all(row.dropout.scale);
  each_vector(row.columns, [&](size_t d, size_t, auto part) {
    const Mask mask = to_mask(static_cast<uint64_t>(bits_by_16[d / 16] >> d % 16));
    store(row.y_D + d, multiply(load(row.x_D + d, part), select(mask, kept, zero())), part);
  });
}

template <int kActivation>
DEBERTA_INLINE Vector activated(Vector x) {
  if constexpr (kActivation == 1) return gelu(x);
  if constexpr (kActivation == 2) return max(zero(), x);
  if constexpr (kActivation == 3) return gelu_tanh(x);
  if constexpr (kActivation == 4) return quick_gelu(x);
  if constexpr (kActivation == 5) return swish(x);
  return x;
}
// That of ReLU at 0 is 0.
template <int kActivation>
DEBERTA_INLINE Vector slope(Vector x) {
  if constexpr (kActivation == 1) return gelu_slope(x);
  if constexpr (kActivation == 2) return select(is_negative(subtract(zero(), x)), all(1.0f), zero());
  if constexpr (kActivation == 3) return gelu_tanh_slope(x);
  if constexpr (kActivation == 4) return quick_gelu_slope(x);
  if constexpr (kActivation == 5) return swish_slope(x);
  return all(1.0f);
}

template <int kActivation>
void activate_as(const float* x, float* y, size_t count) {
  each_vector(count,
              [&](size_t i, size_t, auto part) { store(y + i, activated<kActivation>(load(x + i, part)), part); });
}
template <int kActivation>
void activate_gradient_as(const float* x, const float* dy, float* dx, size_t count) {
  each_vector(count, [&](size_t i, size_t, auto part) {
    store(dx + i, multiply(load(dy + i, part), slope<kActivation>(load(x + i, part))), part);
  });
}

void activate(int activation, const float* x, float* y, size_t count) {
  constexpr void (*kForms[])(const float*, float*, size_t) = {activate_as<0>, activate_as<1>, activate_as<2>,
                                                              activate_as<3>, activate_as<4>, activate_as<5>};
  kForms[activation](x, y, count);
}
void activate_gradient(int activation, const float* x, const float* dy, float* dx, size_t count) {
  constexpr void (*kForms[])(const float*, const float*, float*, size_t) = {
      activate_gradient_as<0>, activate_gradient_as<1>, activate_gradient_as<2>,
      activate_gradient_as<3>, activate_gradient_as<4>, activate_gradient_as<5>};
  kForms[activation](x, dy, dx, count);
}

float largest_number(const float* x, size_t count) {
  Vector most[kSums] = {all(x[0]), all(x[0]), all(x[0]), all(x[0])};
  size_t i = 0;
  for (; i + kSums * kLanes <= count; i += kSums * kLanes) {
    for (size_t v = 0; v < kSums; ++v) most[v] = max(load(x + i + v * kLanes), most[v]);
  }
  float maximum = largest(max(max(most[0], most[1]), max(most[2], most[3])));
  for (; i < count; ++i) maximum = x[i] > maximum ? x[i] : maximum;
  return maximum;
}

void scale(float* x, float factor, size_t count) {
  each_vector(count,
              [&](size_t i, size_t, auto part) { store(x + i, multiply(load(x + i, part), all(factor)), part); });
}

void exponentials(const float* x, float shift, float* y, size_t count) {
  const Vector shifts = all(shift), log2_e = all(1.4426950f);
  each_vector(count, [&](size_t i, size_t, auto part) {
    store(y + i, exp2_of(multiply(subtract(load(x + i, part), shifts), log2_e)), part);
  });
}

}  // namespace
}  // namespace deberta
