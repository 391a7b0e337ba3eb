// One attention problem with random numbers, guards around its outputs and NaN in its scratch; and a second version of
// the equation: literal gather, then transpose, with its own bucket formula. It shares no code with src/kernels.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/arena.h"
#include "kernels/attention.h"
#include "kernels/bf16.h"
#include "support/random.h"

namespace deberta::test {

inline constexpr float kGuard = 12352.0f;  // exact in bf16

struct AttentionCase {
  std::vector<int32_t> lengths = {7};
  std::string kernels = "auto";
  Precision precision = Precision::kFp32;
  size_t heads = 2, head_size = 8;
  int64_t buckets = 8, max_relative = 16;
  bool clamps_distance = true;
  bool has_c2p = true, has_p2c = true;
  double scale = 0.25;
  bool is_causal = false;
  Dropout dropout;
  double deviation = 1;  // standard deviation of q and k
  uint64_t seed = 0;

  std::vector<int32_t> starts;
  std::vector<float> q, k, v, kr, qr, out, lse;  // [T, H, K]; tables [R, H, K]
  std::vector<uint8_t> mask;                     // for keys and queries
  std::optional<RelLut> lut;
  std::vector<Bf16> q_bf16, k_bf16, v_bf16, out_bf16;
  Arena tables, scratch;

  size_t tokens() const { return static_cast<size_t>(starts.back()); }
  size_t width() const { return heads * head_size; }
  int64_t span() const { return buckets > 0 ? buckets : max_relative; }

  void fill() {
    starts = {0};
    for (const int32_t length : lengths) starts.push_back(starts.back() + length);
    q = normals(11 + 100 * seed, tokens() * width(), deviation);
    k = normals(12 + 100 * seed, tokens() * width(), deviation);
    v = normals(13 + 100 * seed, tokens() * width());
    kr = normals(14 + 100 * seed, static_cast<size_t>(2 * span()) * width(), deviation);
    qr = normals(15 + 100 * seed, static_cast<size_t>(2 * span()) * width(), deviation);
    const int32_t longest = *std::max_element(lengths.begin(), lengths.end());
    lut.emplace(RelLutParams{buckets, max_relative, clamps_distance, longest});
  }

  // Inputs in the precision of the case; tables packed for its kernels.
  AttentionParams params() {
    const KernelSet set = select_kernels(kernels);
    AttentionParams p{};
    p.precision = precision;
    p.q = {in_precision(q, q_bf16), width(), head_size};
    p.k = {in_precision(k, k_bf16), width(), head_size};
    p.v = {in_precision(v, v_bf16), width(), head_size};
    out.assign(tokens() * width() + 32, kGuard);
    out_bf16.assign(out.size(), to_bf16(kGuard));
    p.out = {out.data() + 16, width(), head_size};
    if (precision == Precision::kBf16) p.out.data = out_bf16.data() + 16;
    p.starts = starts.data();
    p.sequences = lengths.size();
    p.heads = heads;
    p.head_size = head_size;
    p.scale = scale;
    p.has_c2p = has_c2p;
    p.has_p2c = has_p2c;
    const RelativeTableParams shape{precision, heads, head_size, static_cast<size_t>(2 * span()), false};
    tables.reserve(2 * Arena::bytes_for<std::byte>(attention_table_bytes(set, shape)));
    tables.reset();
    p.kr = packed(set, kr, true);
    p.qr = packed(set, qr, false);
    p.lut = &*lut;
    p.is_causal = is_causal;
    p.dropout = dropout;
    if (!mask.empty()) p.key_mask_T = p.query_mask_T = mask.data();
    lse.assign(heads * tokens(), kGuard);
    p.lse_HT = lse.data();
    return p;
  }

  void run(AttentionParams p) {
    const KernelSet set = select_kernels(kernels);
    const size_t size = attention_scratch_bytes(set, p);
    scratch.reserve(size + Arena::kAlignment);
    scratch.reset();
    p.scratch = scratch.take<std::byte>(size);
    std::memset(p.scratch, 0xFF, size);  // all bits set is a NaN
    attention(set, p);
    if (precision == Precision::kBf16) std::transform(out_bf16.begin(), out_bf16.end(), out.begin(), from_bf16);
  }
  void run() { run(params()); }

  float result(size_t token, size_t head, size_t i) const { return out[16 + token * width() + head * head_size + i]; }
  bool has_guards() const {
    const auto is_guard = [](float x) { return x == kGuard; };
    return std::all_of(out.begin(), out.begin() + 16, is_guard) && std::all_of(out.end() - 16, out.end(), is_guard);
  }

  // b(r) of model.md#relative-positions.
  int64_t bucket(int64_t r) const {
    if (buckets <= 0) return r;
    const int64_t mid = buckets / 2;
    if (clamps_distance) r = std::max(-(max_relative - 1), std::min(max_relative - 1, r));
    if (std::abs(r) <= mid) return r;
    const double share = std::log(double(std::abs(r)) / double(mid)) / std::log(double(max_relative - 1) / double(mid));
    return (r < 0 ? -1 : 1) * (static_cast<int64_t>(std::ceil(share * double(mid - 1))) + mid);
  }

  // Scores A[i][j] of one sequence and head: c2p[i][r] gathered by row; p2c as [key][r], gathered on the key axis with
  // the negated bucket of (key - query), then transposed.
  std::vector<std::vector<double>> second_scores(size_t sequence, size_t head) const {
    const auto first = static_cast<size_t>(starts[sequence]);
    const auto length = static_cast<size_t>(lengths[sequence]);
    const auto table_rows = static_cast<size_t>(2 * span());
    const auto product = [&](const std::vector<float>& a, size_t a_row, const std::vector<float>& b, size_t b_row) {
      const float* x = &a[a_row * width() + head * head_size];
      const float* y = &b[b_row * width() + head * head_size];
      double sum = 0;
      for (size_t i = 0; i < head_size; ++i) sum += double{x[i]} * double{y[i]};
      return sum;
    };
    std::vector<std::vector<double>> c2p(length, std::vector<double>(table_rows)), p2c = c2p;
    for (size_t i = 0; i < length; ++i) {
      for (size_t r = 0; r < table_rows; ++r) {
        c2p[i][r] = product(q, first + i, kr, r);
        p2c[i][r] = product(k, first + i, qr, r);
      }
    }
    const auto clamp_row = [&](int64_t b) {
      return static_cast<size_t>(std::max<int64_t>(0, std::min(2 * span() - 1, b + span())));
    };
    std::vector<std::vector<double>> gathered(length, std::vector<double>(length)), scores = gathered;
    for (size_t key = 0; key < length; ++key) {
      for (size_t query = 0; query < length; ++query) {
        gathered[key][query] = p2c[key][clamp_row(-bucket(static_cast<int64_t>(key) - static_cast<int64_t>(query)))];
      }
    }
    for (size_t i = 0; i < length; ++i) {
      for (size_t j = 0; j < length; ++j) {
        scores[i][j] = product(q, first + i, k, first + j);
        if (has_c2p) scores[i][j] += c2p[i][clamp_row(bucket(static_cast<int64_t>(i) - static_cast<int64_t>(j)))];
        if (has_p2c) scores[i][j] += gathered[j][i];
        scores[i][j] *= scale;
      }
    }
    return scores;
  }

  // The largest difference between `out` and the second version, over all sequences and heads.
  double largest_difference() const {
    double worst = 0;
    for (size_t b = 0; b < lengths.size(); ++b) {
      for (size_t h = 0; h < heads; ++h) worst = std::max(worst, largest_difference(b, h));
    }
    return worst;
  }

 private:
  // x itself; for bf16, x is rounded in place and its bf16 numbers go to x_bf16.
  const void* in_precision(std::vector<float>& x, std::vector<Bf16>& x_bf16) const {
    if (precision != Precision::kBf16) return x.data();
    x_bf16.resize(x.size());
    std::transform(x.begin(), x.end(), x_bf16.begin(), to_bf16);
    std::transform(x_bf16.begin(), x_bf16.end(), x.begin(), from_bf16);
    return x_bf16.data();
  }

  RelativeTable packed(const KernelSet& set, const std::vector<float>& table_RHK, bool is_reversed) {
    const auto rows = static_cast<size_t>(2 * span());
    const RelativeTableParams shape{precision, heads, head_size, rows, is_reversed};
    return attention_pack_table(set, shape, {table_RHK.data(), width(), head_size},
                                tables.take<std::byte>(attention_table_bytes(set, shape)));
  }

  double largest_difference(size_t sequence, size_t head) const {
    const auto scores = second_scores(sequence, head);
    const auto first = static_cast<size_t>(starts[sequence]);
    const size_t length = scores.size();
    double worst = 0;
    for (size_t i = 0; i < length; ++i) {
      std::vector<double> weights(length, 0.0);
      double largest = -1e300, sum = 0;
      const auto is_allowed = [&](size_t j) {
        return (!is_causal || j <= i) && (mask.empty() || (mask[first + i] != 0 && mask[first + j] != 0));
      };
      for (size_t j = 0; j < length; ++j) largest = is_allowed(j) ? std::max(largest, scores[i][j]) : largest;
      for (size_t j = 0; j < length; ++j) sum += weights[j] = is_allowed(j) ? std::exp(scores[i][j] - largest) : 0;
      for (size_t c = 0; c < head_size; ++c) {
        double expected = 0;
        for (size_t j = 0; j < length; ++j) {
          if (weights[j] > 0) expected += weights[j] / sum * double{v[(first + j) * width() + head * head_size + c]};
        }
        const double difference = std::abs(expected - double{result(first + i, head, c)});
        worst = difference <= worst ? worst : difference;
      }
    }
    return worst;
  }
};

}  // namespace deberta::test
