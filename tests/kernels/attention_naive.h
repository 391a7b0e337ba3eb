// What the outputs of an AttentionCase should be: in double, and by the plainest loops in the precision of the case
// (fp32 sums; in bf16 with tables, probabilities and outputs rounded). For long sequences only some rows are computed,
// the others are NaN. Neither shares code with src/kernels but the mask of dropout.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <vector>

#include "kernels/attention_case.h"
#include "kernels/bf16.h"

namespace deberta::test {

// Over the expected values that are not NaN; a NaN in `got` is an infinite difference.
inline double largest_difference(const std::vector<double>& got, const std::vector<double>& expected) {
  double worst = got.size() == expected.size() ? 0 : std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    if (std::isnan(expected[i])) continue;
    const double difference = std::abs(got[i] - expected[i]);
    worst = difference <= worst ? worst : std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
  }
  return worst;
}

template <class Number>
class PlainAttention {
 public:
  explicit PlainAttention(const AttentionCase& of)
      : c_(of), rounds_(sizeof(Number) == 4 && of.precision == Precision::kBf16) {
    for (const auto table : {&AttentionCase::kr, &AttentionCase::qr}) {
      auto& numbers = table == &AttentionCase::kr ? kr_ : qr_;
      for (const float x : of.*table) numbers.push_back(rounded(Number(x)));
    }
    out_.assign(of.tokens() * of.width(), 0.0);
    for (size_t b = 0; b < of.lengths.size(); ++b) {
      for (size_t head = 0; head < of.heads; ++head) run(b, head);
    }
  }
  const std::vector<double>& out() const { return out_; }

 private:
  Number rounded(Number x) const { return rounds_ ? Number(from_bf16(to_bf16(float(x)))) : x; }

  template <class A, class B>
  Number dot(const std::vector<A>& a, size_t a_row, const std::vector<B>& b, size_t b_row, size_t head) const {
    const A* x = a.data() + a_row * c_.width() + head * c_.head_size;
    const B* y = b.data() + b_row * c_.width() + head * c_.head_size;
    Number sum = 0;
    for (size_t k = 0; k < c_.head_size; ++k) sum += Number(x[k]) * Number(y[k]);
    return sum;
  }

  void run(size_t sequence, size_t head) {
    const auto first = static_cast<size_t>(c_.starts[sequence]), length = static_cast<size_t>(c_.lengths[sequence]);
    const auto is_there = [&](size_t t) { return c_.mask.empty() || c_.mask[first + t] != 0; };
    std::vector<Number> p(length), sum(c_.head_size);
    for (size_t i = 0; i < length; ++i) {
      const size_t step = length > 1000 ? 37 : length > 130 ? 11 : 1;  // between rows that are not near either end
      const bool is_left_out = i > 17 && i + 17 < length && i % step != 0;
      if (is_left_out) {
        std::fill_n(&out_[(first + i) * c_.width() + head * c_.head_size], c_.head_size,
                    std::numeric_limits<double>::quiet_NaN());
      }
      if (is_left_out || !is_there(i)) continue;
      const auto is_allowed = [&](size_t j) { return is_there(j) && (!c_.is_causal || j <= i); };
      Number largest = -std::numeric_limits<Number>::infinity(), total = 0;
      for (size_t j = 0; j < length; ++j) {
        if (!is_allowed(j)) continue;
        p[j] = score(first, i, j, head);
        largest = std::max(largest, p[j]);
      }
      for (size_t j = 0; j < length; ++j) total += p[j] = is_allowed(j) ? std::exp(p[j] - largest) : Number(0);
      std::fill(sum.begin(), sum.end(), Number(0));
      for (size_t j = 0; j < length; ++j) {
        if (!is_allowed(j)) continue;
        const Number weight = kept(sequence, head, i, j) * rounded(p[j] / total);
        const float* v = c_.v.data() + (first + j) * c_.width() + head * c_.head_size;
        for (size_t k = 0; k < c_.head_size; ++k) sum[k] += weight * Number(v[k]);
      }
      for (size_t k = 0; k < c_.head_size; ++k)
        out_[(first + i) * c_.width() + head * c_.head_size + k] = double(rounded(sum[k]));
    }
  }

  Number kept(size_t sequence, size_t head, size_t i, size_t j) const {
    if (c_.dropout.p == 0) return 1;
    const auto bytes =
        dropout_bytes(c_.dropout, static_cast<uint32_t>(sequence), static_cast<uint32_t>(c_.heads),
                      static_cast<uint32_t>(head), static_cast<uint32_t>(i), static_cast<uint32_t>(j / 16));
    const auto dropped = std::lround(256 * c_.dropout.p);
    return bytes[j % 16] < dropped ? Number(0) : Number(256) / Number(256 - dropped);
  }

  Number score(size_t first, size_t i, size_t j, size_t head) const {
    const int64_t bucket = c_.bucket(static_cast<int64_t>(i) - static_cast<int64_t>(j));
    const auto row = static_cast<size_t>(std::clamp<int64_t>(bucket + c_.span(), 0, 2 * c_.span() - 1));
    Number sum = dot(c_.q, first + i, c_.k, first + j, head);
    if (c_.has_c2p) sum += dot(c_.q, first + i, kr_, row, head);
    if (c_.has_p2c) sum += dot(c_.k, first + j, qr_, row, head);
    return sum * Number(c_.scale);
  }

  const AttentionCase& c_;
  bool rounds_ = false;
  std::vector<Number> kr_, qr_;
  std::vector<double> out_;
};

inline std::vector<double> exact_attention(const AttentionCase& c) {
  return PlainAttention<double>(c).out();
}
inline std::vector<double> naive_attention(const AttentionCase& c) {
  return PlainAttention<float>(c).out();
}

}  // namespace deberta::test
