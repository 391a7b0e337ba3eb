// The epilogue of GEMM, included by gemm_finish_<isa>.cpp after vectors_<isa>.inc.h and add_as_float. A vector of the
// tile is read whole (its rows are padded); everything else is read and written through a buffer of kLanes when columns
// end within a vector.
#include "kernels/x86/activation.inc.h"

namespace deberta {
namespace {

// count is kLanes when kWhole, else less.
template <bool kWhole>
DEBERTA_INLINE Vector load_some(const void* p, size_t count) {  // elements of 4 bytes
  if constexpr (kWhole) return load((const float*)p);
  float buffer[kLanes] = {};
  for (size_t i = 0; i < count; ++i) __builtin_memcpy(buffer + i, (const char*)p + 4 * i, 4);
  return load(buffer);
}

template <bool kWhole>
DEBERTA_INLINE void store_some(float* c, Vector y, size_t count) {
  if constexpr (kWhole) return store(c, y);
  float buffer[kLanes];
  store(buffer, y);
  for (size_t i = 0; i < count; ++i) c[i] = buffer[i];
}

template <bool kWhole>
DEBERTA_INLINE void store_some(uint16_t* c, Vector y, size_t count) {
  if constexpr (kWhole) return store_halves(c, to_bf16(y));
  uint16_t buffer[kLanes];
  store_halves(buffer, to_bf16(y));
  for (size_t i = 0; i < count; ++i) c[i] = buffer[i];
}

DEBERTA_INLINE float from_bf16_bits(uint16_t bits) {
  const uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float x;
  __builtin_memcpy(&x, &wide, sizeof x);
  return x;
}

// What the rows of a vector's columns share.
struct ColumnTerms {
  Vector compensation, scale, bias;  // the first of int32
};

template <bool kInt8, bool kWhole>
DEBERTA_INLINE ColumnTerms terms_of(const GemmFinish& f, size_t n, size_t count) {
  ColumnTerms t = {zero(), zero(), zero()};
  if constexpr (kInt8) {
    t.compensation = load_some<kWhole>(f.compensation_N + n, count);
    t.scale = load_some<kWhole>(f.w_scales_N + n, count);
  }
  if (f.bias_N != nullptr) t.bias = load_some<kWhole>(f.bias_N + n, count);
  return t;
}

// y[r] += row m + r of the side product. Rare, so it takes no registers from the rest.
template <bool kWhole>
__attribute__((noinline)) void add_side_product(const GemmFinish& f, size_t m, size_t n, size_t count, Vector* y,
                                                size_t rows) {
  for (size_t r = 0; r < rows; ++r) {
    for (size_t o = 0; o < f.outliers; ++o) {
      const float a = from_bf16_bits(f.side_a_MO[(m + r) * f.outliers + o]);
      y[r] = fma(all(a), load_some<kWhole>(f.side_w_ON + o * f.side_stride + n, count), y[r]);
    }
  }
}

template <int kActivation>
DEBERTA_INLINE Vector activated(Vector y) {
  if constexpr (kActivation == 1) return gelu(y);
  if constexpr (kActivation == 2) return max(zero(), y);
  if constexpr (kActivation == 3) return gelu_tanh(y);
  if constexpr (kActivation == 4) return quick_gelu(y);
  if constexpr (kActivation == 5) return swish(y);
  return y;
}

// Rows m .. of a vector's columns, of which `count` exist.
template <bool kInt8, int kActivation, bool kWhole, size_t kRows, class Output>
DEBERTA_INLINE void finish_vectors(const GemmFinish& f, const ColumnTerms& t, Output* c_MN, size_t m, size_t n,
                                   size_t count) {
  Vector y[kRows];
  const float* sums = static_cast<const float*>(f.tile_MW) + m * f.tile_stride + n;
  const size_t stride = f.tile_stride;
  DEBERTA_UNROLL
  for (size_t r = 0; r < kRows; ++r) y[r] = load(sums + r * stride);
  if constexpr (kInt8) {
    const float* scales = f.a_scales_M + m;
    DEBERTA_UNROLL
    for (size_t r = 0; r < kRows; ++r)
      y[r] = multiply(multiply(add_as_float(y[r], t.compensation), all(scales[r])), t.scale);
    if (f.outliers > 0) {
      Vector in_memory[kRows];
      DEBERTA_UNROLL
      for (size_t r = 0; r < kRows; ++r) in_memory[r] = y[r];
      add_side_product<kWhole>(f, m, n, count, in_memory, kRows);
      DEBERTA_UNROLL
      for (size_t r = 0; r < kRows; ++r) y[r] = in_memory[r];
    }
  }
  if (f.bias_N != nullptr) {
    DEBERTA_UNROLL
    for (size_t r = 0; r < kRows; ++r) y[r] = add(y[r], t.bias);
  }
  DEBERTA_UNROLL
  for (size_t r = 0; r < kRows; ++r) y[r] = activated<kActivation>(y[r]);
  if (f.residual_MN != nullptr) {
    const float* residual = f.residual_MN + m * f.residual_stride + n;
    const size_t residual_stride = f.residual_stride;
    DEBERTA_UNROLL
    for (size_t r = 0; r < kRows; ++r) y[r] = add(y[r], load_some<kWhole>(residual + r * residual_stride, count));
  }
  Output* c = c_MN + m * f.c_stride + n;
  const size_t c_stride = f.c_stride;
  DEBERTA_UNROLL
  for (size_t r = 0; r < kRows; ++r) store_some<kWhole>(c + r * c_stride, y[r], count);
}

// Four rows at once, whose vectors wait for nothing: beside tiles, loops that end at other times than before are dear.
template <bool kInt8, int kActivation, bool kWhole, class Output>
DEBERTA_INLINE void finish_columns(const GemmFinish& f, Output* c_MN, size_t begin, size_t end, size_t n,
                                   size_t count) {
  const ColumnTerms t = terms_of<kInt8, kWhole>(f, n, count);
  size_t m = begin;
  for (; m + 4 <= end; m += 4) finish_vectors<kInt8, kActivation, kWhole, 4>(f, t, c_MN, m, n, count);
  for (; m < end; ++m) finish_vectors<kInt8, kActivation, kWhole, 1>(f, t, c_MN, m, n, count);
}

template <bool kInt8, int kActivation, class Output>
__attribute__((noinline)) void finish_last_columns(const GemmFinish& f, Output* c_MN, size_t begin, size_t end,
                                                   size_t n) {
  finish_columns<kInt8, kActivation, false>(f, c_MN, begin, end, n, f.columns - n);
}

template <bool kInt8, int kActivation, class Output>
void finish_rows(const GemmFinish& f, Output* c_MN, size_t begin, size_t end) {
  const size_t whole = f.columns / kLanes * kLanes;
  for (size_t n = 0; n < whole; n += kLanes) finish_columns<kInt8, kActivation, true>(f, c_MN, begin, end, n, kLanes);
  if (whole < f.columns) finish_last_columns<kInt8, kActivation>(f, c_MN, begin, end, whole);
}

template <bool kInt8, int kActivation>
void finish_to(const GemmFinish& f, size_t begin, size_t end) {
  f.c_MN != nullptr ? finish_rows<kInt8, kActivation>(f, f.c_MN, begin, end)
                    : finish_rows<kInt8, kActivation>(f, f.c_bf16_MN, begin, end);
}

template <int kActivation>
void finish_as(const GemmFinish& f, size_t begin, size_t end) {
  f.compensation_N != nullptr ? finish_to<true, kActivation>(f, begin, end)
                              : finish_to<false, kActivation>(f, begin, end);
}

// The numbers are those of vector_activation() (activation.h).
void finish(const GemmFinish& f, size_t begin, size_t end) {
  constexpr GemmFinishFunction kForms[] = {finish_as<0>, finish_as<1>, finish_as<2>,
                                           finish_as<3>, finish_as<4>, finish_as<5>};
  kForms[f.activation](f, begin, end);
}

}  // namespace
}  // namespace deberta
