// Attention of one sequence and one head, straight from the equation: every score by its three dot products.
#include "kernels/attention.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "kernels/bf16.h"
#include "kernels/reference/reference.h"

namespace deberta {
namespace {

// K numbers of an input or of a packed table: they, or pairs of them, are `step` apart.
struct Row {
  const void* data = nullptr;
  bool is_bf16 = false, has_pairs = false;
  size_t step = 1;
};

// use(x): x(k) is number k of the row. What kind of row it is, is asked once and not for each number.
template <class Use>
auto with_numbers(const Row& row_K, const Use& use) {
  const size_t step = row_K.step;
  const auto* bf16 = static_cast<const Bf16*>(row_K.data);
  if (row_K.has_pairs) return use([=](size_t k) { return double{from_bf16(bf16[k / 2 * step + k % 2])}; });
  if (row_K.is_bf16) return use([=](size_t k) { return double{from_bf16(bf16[k * step])}; });
  return use([=, fp32 = static_cast<const float*>(row_K.data)](size_t k) { return double{fp32[k * step]}; });
}

struct Scores {
  double c2c = 0, c2p = 0, p2c = 0;
};

// One task: what it reads of the params, by position within the sequence.
struct Task {
  const AttentionParams& p;
  size_t sequence = 0;
  size_t head = 0;
  size_t query_start = 0, queries = 0;
  size_t key_start = 0, keys = 0;

  int64_t position(size_t i) const {
    return p.query_positions != nullptr ? p.query_positions[query_start + i] : static_cast<int64_t>(i);
  }

  size_t relative_row(size_t i, size_t j) const {
    if (p.given_buckets_LS == nullptr) return static_cast<size_t>(p.lut->row(position(i) - static_cast<int64_t>(j)));
    const auto rows = static_cast<int64_t>(p.relative_rows);
    const int64_t bucket = p.given_buckets_LS[static_cast<size_t>(position(i)) * p.given_stride + j];
    return static_cast<size_t>(std::clamp<int64_t>(bucket + rows / 2, 0, rows - 1));
  }

  bool is_allowed(size_t i, size_t j) const {
    if (p.query_mask_T != nullptr && p.query_mask_T[query_start + i] == 0) return false;
    if (p.key_mask_T != nullptr && p.key_mask_T[key_start + j] == 0) return false;
    if (p.is_causal && static_cast<int64_t>(j) > position(i)) return false;
    const uint64_t* mask = p.masks_B != nullptr ? p.masks_B[sequence] : nullptr;
    const size_t row = static_cast<size_t>(position(i)) * ((keys + 63) / 64);
    return mask == nullptr || (mask[row + j / 64] >> (j % 64) & 1) != 0;
  }
};

Task make_task(const AttentionParams& p, size_t sequence, size_t head) {
  const int32_t* query_starts = query_starts_of(p);
  const auto length = [&](const int32_t* starts) {
    return static_cast<size_t>(starts[sequence + 1] - starts[sequence]);
  };
  return {.p = p,
          .sequence = sequence,
          .head = head,
          .query_start = static_cast<size_t>(query_starts[sequence]),
          .queries = length(query_starts),
          .key_start = static_cast<size_t>(p.starts[sequence]),
          .keys = length(p.starts)};
}

Row row_of(const AttentionParams& p, const HeadRows<const void>& rows, size_t token, size_t head) {
  const bool is_bf16 = p.precision == Precision::kBf16;
  const size_t bytes = rows.offset(token, head) * (is_bf16 ? sizeof(Bf16) : sizeof(float));
  return {static_cast<const std::byte*>(rows.data) + bytes, is_bf16};
}

Row row_of(const RelativeTable& table, size_t row, size_t head) {
  const auto* data = static_cast<const std::byte*>(table.data) + head * table.head_bytes();
  const size_t column = table.is_reversed ? table.rows - 1 - row : row;
  if (table.has_pairs) return {data + column * 2 * sizeof(Bf16), true, true, 2 * table.stride};
  return {data + column * sizeof(float), false, false, table.stride};
}

// In four sums, so that no addition waits for the one before.
double dot(const Row& a_K, const Row& b_K, size_t count) {
  return with_numbers(a_K, [&](const auto& a) {
    return with_numbers(b_K, [&](const auto& b) {
      std::array<double, 4> sums{};
      size_t k = 0;
      for (; k + 4 <= count; k += 4) {
        for (size_t i = 0; i < 4; ++i) sums[i] += a(k + i) * b(k + i);
      }
      for (; k < count; ++k) sums[0] += a(k) * b(k);
      return (sums[0] + sums[1]) + (sums[2] + sums[3]);
    });
  });
}

Scores score(const Task& t, size_t i, size_t j) {
  const AttentionParams& p = t.p;
  const Row q_K = row_of(p, p.q, t.query_start + i, t.head);
  const Row k_K = row_of(p, p.k, t.key_start + j, t.head);
  Scores s;
  s.c2c = p.scale * dot(q_K, k_K, p.head_size);
  if (!p.has_c2p && !p.has_p2c) return s;
  const size_t row = t.relative_row(i, j);
  if (p.has_c2p) s.c2p = p.scale * dot(q_K, row_of(p.kr, row, t.head), p.head_size);
  if (p.has_p2c) s.p2c = p.scale * dot(k_K, row_of(p.qr, row, t.head), p.head_size);
  return s;
}

// Elements of the score outputs before row i of this task.
size_t scores_offset(const Task& t, size_t i) {
  const int32_t* query_starts = query_starts_of(t.p);
  size_t offset = 0;
  for (size_t b = 0; b < t.sequence; ++b) {
    offset += static_cast<size_t>(query_starts[b + 1] - query_starts[b]) *
              static_cast<size_t>(t.p.starts[b + 1] - t.p.starts[b]);
  }
  return offset * t.p.heads + (t.head * t.queries + i) * t.keys;
}

void store(float* out, size_t at, double value) {
  if (out != nullptr) out[at] = static_cast<float>(value);
}

// a_S[j] = the score, or -inf where masked.
void score_row(const Task& t, size_t i, size_t offset, double* a_S) {
  const AttentionScoreOutputs& out = t.p.scores;
  for (size_t j = 0; j < t.keys; ++j) {
    const bool is_allowed = t.is_allowed(i, j);
    a_S[j] = -std::numeric_limits<double>::infinity();
    if (!is_allowed && !out.is_wanted()) continue;
    const Scores s = score(t, i, j);
    store(out.c2c, offset + j, s.c2c);
    store(out.c2p, offset + j, s.c2p);
    store(out.p2c, offset + j, s.p2c);
    if (is_allowed) a_S[j] = s.c2c + s.c2p + s.p2c;
  }
}

// a_S becomes the probabilities; returns the natural log-sum-exp, -inf when no key is allowed: then each probability is
// `empty`.
double softmax(double* a_S, size_t keys, double empty) {
  const double largest = keys == 0 ? -INFINITY : *std::max_element(a_S, a_S + keys);
  if (largest == -INFINITY) {
    std::fill_n(a_S, keys, empty);
    return largest;
  }
  double sum = 0;
  for (size_t j = 0; j < keys; ++j) sum += a_S[j] = std::exp(a_S[j] - largest);
  for (size_t j = 0; j < keys; ++j) a_S[j] /= sum;
  return largest + std::log(sum);
}

void drop(const Task& t, size_t i, double* p_S) {
  const Dropout& dropout = t.p.dropout;
  if (dropout.threshold() == 0) return;
  std::array<uint8_t, 16> bytes{};
  for (size_t j = 0; j < t.keys; ++j) {
    if (j % 16 == 0) {
      bytes = dropout_bytes(dropout, static_cast<uint32_t>(t.sequence), static_cast<uint32_t>(t.p.heads),
                            static_cast<uint32_t>(t.head), static_cast<uint32_t>(t.position(i)),
                            static_cast<uint32_t>(j / 16));
    }
    p_S[j] = bytes[j % 16] < dropout.threshold() ? 0.0 : p_S[j] * dropout.scale();
  }
}

void store_output(const AttentionParams& p, size_t offset, const double* sum_K) {
  for (size_t k = 0; k < p.head_size; ++k) {
    const auto x = static_cast<float>(sum_K[k]);
    if (p.precision == Precision::kBf16) {
      static_cast<Bf16*>(p.out.data)[offset + k] = to_bf16(x);
    } else {
      static_cast<float*>(p.out.data)[offset + k] = x;
    }
  }
}

}  // namespace

size_t reference_attention_scratch_bytes(const AttentionParams& p) {
  size_t longest = 1;
  for (size_t b = 0; b < p.sequences; ++b)
    longest = std::max(longest, static_cast<size_t>(p.starts[b + 1] - p.starts[b]));
  return ((longest + p.head_size) * sizeof(double) + 63) / 64 * 64;
}

void reference_attention(const AttentionParams& p, size_t sequence, size_t head, void* worker_scratch) {
  const Task t = make_task(p, sequence, head);
  double* a_S = static_cast<double*>(worker_scratch);
  double* sum_K = a_S + t.keys;
  const size_t total_queries = static_cast<size_t>(query_starts_of(p)[p.sequences]);
  const double empty = p.averages_empty_rows && t.keys > 0 ? 1 / static_cast<double>(t.keys) : 0;
  for (size_t i = 0; i < t.queries; ++i) {
    const size_t offset = p.scores.is_wanted() ? scores_offset(t, i) : 0;
    score_row(t, i, offset, a_S);
    const double lse = softmax(a_S, t.keys, empty);
    store(p.lse_HT, head * total_queries + t.query_start + i, lse * std::numbers::log2e);
    for (size_t j = 0; j < t.keys; ++j) store(p.scores.probabilities, offset + j, a_S[j]);
    drop(t, i, a_S);
    std::fill_n(sum_K, p.head_size, 0.0);
    for (size_t j = 0; j < t.keys; ++j) {
      const Row v_K = row_of(p, p.v, t.key_start + j, head);
      if (a_S[j] == 0) continue;  // a masked key may hold anything, NaN too
      with_numbers(v_K, [&](const auto& v) {
        for (size_t k = 0; k < p.head_size; ++k) sum_K[k] += a_S[j] * v(k);
      });
    }
    store_output(p, p.out.offset(t.query_start + i, head), sum_K);
  }
}

}  // namespace deberta
