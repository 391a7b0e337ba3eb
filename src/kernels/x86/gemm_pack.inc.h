// Packing, included by gemm_pack_<isa>.cpp after vectors_<isa>.inc.h and divide_or_zero.
namespace deberta {
namespace {

void transpose_groups(const float* rows, size_t stride, size_t columns, size_t groups, float* panel, size_t width) {
  size_t w = 0;
  for (; w + kLanes <= columns; w += kLanes) {
    size_t g = 0;
    for (; g + kLanes <= groups; g += kLanes) {
      Vector r[kLanes];
      for (size_t i = 0; i < kLanes; ++i) r[i] = load(rows + (w + i) * stride + g);
      transpose(r);
      for (size_t i = 0; i < kLanes; ++i) store(panel + (g + i) * width + w, r[i]);
    }
    for (; g < groups; ++g) {
      for (size_t i = 0; i < kLanes; ++i) panel[g * width + w + i] = rows[(w + i) * stride + g];
    }
  }
  for (; w < columns; ++w) {
    for (size_t g = 0; g < groups; ++g) panel[g * width + w] = rows[w * stride + g];
  }
}

// kVectors side by side keep their sums in registers.
template <size_t kVectors>
inline void add_strip(const float* x, size_t stride, size_t rows, float* sums) {
  Vector s[kVectors];
  for (size_t v = 0; v < kVectors; ++v) s[v] = load(sums + v * kLanes);
  for (size_t i = 0; i < rows; ++i, x += stride) {
    for (size_t v = 0; v < kVectors; ++v) s[v] = add(s[v], load(x + v * kLanes));
  }
  for (size_t v = 0; v < kVectors; ++v) store(sums + v * kLanes, s[v]);
}

void add_rows(const float* x, size_t stride, size_t rows, size_t columns, float* sums) {
  constexpr size_t kWide = 4;
  size_t c = 0;
  for (; c + kWide * kLanes <= columns; c += kWide * kLanes) add_strip<kWide>(x + c, stride, rows, sums + c);
  for (; c + kLanes <= columns; c += kLanes) add_strip<1>(x + c, stride, rows, sums + c);
  for (; c < columns; ++c) {
    for (size_t i = 0; i < rows; ++i) sums[c] += x[i * stride + c];
  }
}

inline Halves read_halves(const float* x) {
  return to_bf16(load(x));
}
inline Halves read_halves(const uint16_t* x) {
  return load_halves(x);
}

// Two rows side by side, in bf16; no second one: zeros.
template <class Number>
void pair_rows(const Number* low, const Number* high, uint16_t* pairs, size_t count) {
  const Number zeros[kLanes] = {};
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    store((float*)(pairs + 2 * i), bf16_pairs(read_halves(low + i), read_halves(high != nullptr ? high + i : zeros)));
  if (i == count) return;
  Number last[2][kLanes] = {};
  for (size_t j = 0; i + j < count; ++j) {
    last[0][j] = low[i + j];
    last[1][j] = high != nullptr ? high[i + j] : 0;
  }
  float joined[kLanes];
  store(joined, bf16_pairs(read_halves(last[0]), read_halves(last[1])));
  __builtin_memcpy(pairs + 2 * i, joined, 4 * (count - i));
}

// The last elements of a row, filled up with zeros.
struct Tail {
  float w[kLanes] = {};
  float reciprocal[kLanes] = {};
  Tail(const float* w_K, const float* reciprocal_K, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      w[i - begin] = w_K[i];
      reciprocal[i - begin] = reciprocal_K != nullptr ? reciprocal_K[i] : 1;
    }
  }
};

Vector smoothed(const float* w_K, const float* reciprocal_K) {
  const Vector w = load(w_K);
  return reciprocal_K != nullptr ? divide_or_zero(w, load(reciprocal_K)) : w;
}

// A weight that is not finite must not be hidden: it makes the result NaN.
float largest_of_row(const float* w_K, const float* reciprocal_K, size_t count) {
  Vector most = zero(), not_finite = zero();
  const auto see = [&](Vector w) {
    most = max(absolute(w), most);
    not_finite = fma(w, zero(), not_finite);
  };
  size_t k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    see(smoothed(w_K + k, reciprocal_K != nullptr ? reciprocal_K + k : nullptr));
  }
  const Tail tail(w_K, reciprocal_K, k, count);
  see(smoothed(tail.w, tail.reciprocal));
  return largest(most) + sum(not_finite);
}

void to_int8(const float* w_K, const float* reciprocal_K, float scale, int8_t* q_K, size_t count) {
  size_t k = 0;
  for (; k + kLanes <= count; k += kLanes) {
    const Vector w = smoothed(w_K + k, reciprocal_K != nullptr ? reciprocal_K + k : nullptr);
    store_bytes(q_K + k, to_int8(divide(w, all(scale))));
  }
  const Tail tail(w_K, reciprocal_K, k, count);
  int8_t buffer[kLanes];
  store_bytes(buffer, to_int8(divide(smoothed(tail.w, tail.reciprocal), all(scale))));
  for (size_t i = 0; k + i < count; ++i) q_K[k + i] = buffer[i];
}

constexpr GemmPackKernel kKernel = {.transpose = transpose_groups,
                                    .add_rows = add_rows,
                                    .pair_rows = pair_rows<float>,
                                    .pair_bf16_rows = pair_rows<uint16_t>,
                                    .largest = largest_of_row,
                                    .to_int8 = to_int8};

}  // namespace
}  // namespace deberta
