// One matrix product with random numbers, in any precision: the operands as they lie in memory and as the numbers that
// they represent. What lies between rows of A and after the last one must not matter; guards surround rows of C.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "base/arena.h"
#include "kernels/gemm.h"
#include "kernels/operand.h"
#include "support/random.h"

namespace deberta::test {

struct GemmShape {
  size_t m, n, k;
};

// Row counts of tiles, blocks and strips with their neighbours; every end of a panel; odd depths; several blocks of k
// that several panels share, with the row counts from which a strip keeps what it widened.
inline std::vector<GemmShape> edge_shapes() {
  std::vector<GemmShape> shapes;
  for (size_t m = 1; m <= 13; ++m) shapes.push_back({m, 70, 37});
  for (const unsigned m : {15u, 16u, 17u, 31u, 32u, 33u, 95u, 96u, 97u, 193u, 257u}) shapes.push_back({m, 65, 17});
  for (size_t n = 1; n <= 130; ++n) shapes.push_back({7, n, 33});
  for (const unsigned k : {1u, 2u, 3u, 5u, 31u, 32u, 33u, 63u, 64u, 65u, 127u, 513u, 769u})
    shapes.push_back({5, 48, k});
  for (const unsigned m : {1u, 6u, 7u, 12u, 13u, 18u, 19u, 23u, 24u, 25u, 97u}) shapes.push_back({m, 290, 3083});
  for (const unsigned k : {1535u, 1536u, 1537u, 1539u, 3071u, 3072u, 3073u, 4613u}) shapes.push_back({20, 20, k});
  shapes.push_back({250, 70, 4613});  // more of A than a second-level cache keeps
  return shapes;
}

// The products of a base model: query, key and value; out; up; down. A few rows, and enough to amortise the weights.
inline std::vector<GemmShape> model_shapes() {
  std::vector<GemmShape> shapes;
  for (const size_t m : {size_t{16}, size_t{512}}) {
    for (const GemmShape& s : {GemmShape{m, 2304, 768}, {m, 768, 768}, {m, 3072, 768}, {m, 768, 3072}}) {
      shapes.push_back(s);
    }
  }
  return shapes;
}

class GemmCase {
 public:
  static constexpr float kGuard = 12345.5f;

  GemmCase(const KernelSet& kernels, Precision precision, GemmShape shape, size_t outliers = 0)
      : s(shape), bias(normals(3, s.n)), precision_(precision), c_stride_(s.n + 5) {
    w_ = normals(2, s.n * s.k);
    for (size_t o = 0; o < outliers; ++o) outliers_.push_back(static_cast<int32_t>(o * s.k / outliers));
    reciprocal_.assign(s.k, 1.0f);
    for (const int32_t k : outliers_) reciprocal_[static_cast<size_t>(k)] = 0;
    const WeightSource source{w_.data(), s.n, s.k, {reciprocal_.data(), outliers_.data(), outliers}};
    const size_t size_bytes = gemm_packed_bytes(kernels, precision, source);
    arena_.reserve(Arena::bytes_for<std::byte>(size_bytes));
    packed_ = gemm_pack(kernels, precision, source, arena_.take<std::byte>(size_bytes));
    fill_a(normals(1, s.m * s.k));
    for (size_t n = 0; n < s.n; ++n) append_weights(n);
    c.assign(16 + s.m * c_stride_ + 16, kGuard);
  }

  GemmParams params() {
    GemmParams p{};
    p.a_MK = a_bytes();
    p.a_stride = a_stride_;
    if (precision_ == Precision::kInt8) p.a_scales_M = scales_.data();
    p.a_outliers_MO = side_.data();
    p.rows = s.m;
    p.weights = packed_;
    p.c_MN = c.data() + 16;
    p.c_stride = c_stride_;
    return p;
  }
  // Row m alone, written to the first row of C.
  GemmParams row_params(size_t m) {
    GemmParams p = params();
    p.a_MK = static_cast<const std::byte*>(p.a_MK) + m * a_stride_ * element_bytes(precision_);
    if (p.a_scales_M != nullptr) p.a_scales_M += m;
    p.a_outliers_MO += m * outliers_.size();
    p.rows = 1;
    return p;
  }

  double exact(size_t m, size_t n) const { return sum_of<double>(m, n); }
  float naive(size_t m, size_t n) const { return sum_of<float>(m, n); }
  float result(size_t m, size_t n) const { return c[16 + m * c_stride_ + n]; }
  const float* result_row(size_t m) const { return &c[16 + m * c_stride_]; }

  bool has_guards() const {
    for (size_t at = 0; at < c.size(); ++at) {
      const size_t column = at < 16 ? s.n : (at - 16) % c_stride_;
      const bool is_output = at >= 16 && column < s.n && (at - 16) / c_stride_ < s.m;
      if (!is_output && c[at] != kGuard) return false;
    }
    return true;
  }
  size_t c_stride() const { return c_stride_; }
  const PackedWeights& weights() const { return packed_; }
  void set_a(size_t m, size_t k, float x) {  // not int8
    precision_ == Precision::kFp32 ? void(a_fp32_[1 + m * a_stride_ + k] = x)
                                   : void(a_bf16_[m * a_stride_ + k] = to_bf16(x));
  }

  // A matrix A of zeros: the output shows what is done to the bias.
  void clear_a() {
    scales_.clear();
    side_.clear();
    a_.clear();
    fill_a(std::vector<float>(s.m * s.k, 0.0f));
  }

  GemmShape s;
  std::vector<float> bias, c;

 private:
  template <class Number>
  Number sum_of(size_t m, size_t n) const {
    const double* a = &a_[m * s.k];
    const double* w = &w_numbers_[n * s.k];
    Number sum = 0;
    for (size_t k = 0; k < s.k; ++k) sum += static_cast<Number>(a[k]) * static_cast<Number>(w[k]);
    return sum;
  }
  bool is_outlier(size_t k) const { return reciprocal_[k] == 0; }
  const void* a_bytes() const {
    if (precision_ == Precision::kFp32) return a_fp32_.data() + 1;  // one element off any alignment
    return precision_ == Precision::kBf16 ? static_cast<const void*>(a_bf16_.data()) : a_u8_.data();
  }
  // Memory ends with the last row, or with the padding that the precision requires.
  void fill_a(const std::vector<float>& a) {
    const auto lay_out = [&](auto& memory, size_t front, size_t padded, auto around) {
      memory.assign(front + (s.m - 1) * a_stride_ + padded, around);
    };
    a_stride_ = precision_ == Precision::kFp32 ? s.k + 3 : (s.k + 3) / 4 * 4 + 4;
    if (precision_ == Precision::kFp32) lay_out(a_fp32_, 1, s.k, std::numeric_limits<float>::quiet_NaN());
    if (precision_ == Precision::kBf16) lay_out(a_bf16_, 0, (s.k + 1) / 2 * 2, Bf16{0});
    if (precision_ == Precision::kInt8) lay_out(a_u8_, 0, (s.k + 3) / 4 * 4, uint8_t{77});
    for (size_t m = 0; m < s.m; ++m) {
      if (precision_ == Precision::kInt8) scales_.push_back(0.01f * static_cast<float>(m + 1));
      for (size_t k = 0; k < s.k; ++k) a_.push_back(put_a(m, k, a[m * s.k + k]));
    }
  }
  // The number that represents x.
  double put_a(size_t m, size_t k, float x) {
    const size_t at = m * a_stride_ + k;
    if (precision_ == Precision::kFp32) return double{a_fp32_[1 + at] = x};
    if (precision_ == Precision::kBf16) return double{from_bf16(a_bf16_[at] = to_bf16(x))};
    if (is_outlier(k)) {
      a_u8_[at] = 128;
      side_.push_back(to_bf16(x));
      return double{from_bf16(side_.back())};
    }
    const double q = std::clamp(std::nearbyint(double{x} * 40), -127.0, 127.0);
    a_u8_[at] = static_cast<uint8_t>(q + 128);
    return q * double{scales_[m]};
  }
  void append_weights(size_t n) {
    float largest = 0;
    for (size_t k = 0; k < s.k; ++k) largest = std::max(largest, is_outlier(k) ? 0 : std::abs(w_[n * s.k + k]));
    const float scale = largest > 0 ? largest / 127 : 1;
    for (size_t k = 0; k < s.k; ++k) {
      const float w = w_[n * s.k + k];
      const bool is_bytes = precision_ == Precision::kInt8 && !is_outlier(k);
      const double rounded = precision_ == Precision::kFp32 ? double{w} : double{from_bf16(to_bf16(w))};
      w_numbers_.push_back(is_bytes ? std::nearbyint(w / scale) * double{scale} : rounded);
    }
  }

  Precision precision_;
  size_t a_stride_ = 0, c_stride_;
  std::vector<float> w_, reciprocal_, scales_, a_fp32_;
  std::vector<Bf16> a_bf16_, side_;
  std::vector<uint8_t> a_u8_;
  std::vector<int32_t> outliers_;
  std::vector<double> a_, w_numbers_;  // the numbers that the operands represent
  Arena arena_;
  PackedWeights packed_;
};

}  // namespace deberta::test
