// The gradients of one head, straight from the equation: every probability from its scores, nothing from the forward
// call.
#include "kernels/attention_backward.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/reference/reference.h"

namespace deberta {
namespace {

// One sequence and head.
template <class Number>
struct Task {
  const AttentionBackwardOf<Number>& p;
  size_t sequence = 0, head = 0;
  size_t query_start = 0, queries = 0;
  size_t key_start = 0, keys = 0;

  int64_t position(size_t i) const {
    return p.query_positions != nullptr ? p.query_positions[query_start + i] : static_cast<int64_t>(i);
  }
  size_t row(size_t i, size_t j) const {
    return static_cast<size_t>(p.lut->row(position(i) - static_cast<int64_t>(j)));
  }
  bool is_allowed(size_t i, size_t j) const {
    if (p.query_mask_T != nullptr && p.query_mask_T[query_start + i] == 0) return false;
    if (p.key_mask_T != nullptr && p.key_mask_T[key_start + j] == 0) return false;
    return !p.is_causal || static_cast<int64_t>(j) <= position(i);
  }
  template <class Data>
  Data* at_query(const HeadRows<Data>& rows, size_t i) const {
    return rows.data + rows.offset(query_start + i, head);
  }
  template <class Data>
  Data* at_key(const HeadRows<Data>& rows, size_t j) const {
    return rows.data + rows.offset(key_start + j, head);
  }
  template <class Data>
  Data* at_row(const HeadRows<Data>& rows, size_t r) const {
    return rows.data + rows.offset(r, head);
  }
};

template <class Number>
Task<Number> make_task(const AttentionBackwardOf<Number>& p, size_t sequence, size_t head) {
  const int32_t* query_starts = p.query_starts != nullptr ? p.query_starts : p.starts;
  const auto begin = [&](const int32_t* starts) { return static_cast<size_t>(starts[sequence]); };
  const auto length = [&](const int32_t* starts) {
    return static_cast<size_t>(starts[sequence + 1] - starts[sequence]);
  };
  return {p, sequence, head, begin(query_starts), length(query_starts), begin(p.starts), length(p.starts)};
}

template <class Number>
double dot(const Number* a_K, const Number* b_K, size_t count) {
  double sum = 0;
  for (size_t k = 0; k < count; ++k) sum += double{a_K[k]} * double{b_K[k]};
  return sum;
}

template <class Number>
void add(double* sum_K, double factor, const Number* x_K, size_t count) {
  for (size_t k = 0; k < count; ++k) sum_K[k] += factor * double{x_K[k]};
}

template <class Number>
void store(const double* sum_K, size_t count, Number* out_K) {
  std::transform(sum_K, sum_K + count, out_K, [](double x) { return static_cast<Number>(x); });
}

template <class Number>
double score(const Task<Number>& t, size_t i, size_t j) {
  const auto& p = t.p;
  const Number* q_K = t.at_query(p.q, i);
  const Number* k_K = t.at_key(p.k, j);
  double a = dot(q_K, k_K, p.head_size);
  if (p.kr.data != nullptr) a += dot(q_K, t.at_row(p.kr, t.row(i, j)), p.head_size);
  if (p.qr.data != nullptr) a += dot(k_K, t.at_row(p.qr, t.row(i, j)), p.head_size);
  return p.scale * a;
}

// w_S[j] = the probability, 0 where not allowed. Whether there is an allowed key.
template <class Number>
bool softmax(const Task<Number>& t, size_t i, double* w_S) {
  double largest = -INFINITY, sum = 0;
  bool has_key = false;
  for (size_t j = 0; j < t.keys; ++j) {
    w_S[j] = -INFINITY;
    if (!t.is_allowed(i, j)) continue;
    has_key = true;
    largest = std::max(largest, w_S[j] = score(t, i, j));
  }
  if (!has_key) return false;
  for (size_t j = 0; j < t.keys; ++j) sum += w_S[j] = std::exp(w_S[j] - largest);
  for (size_t j = 0; j < t.keys; ++j) w_S[j] /= sum;
  return true;
}

// What dropout multiplies each probability with: 0 or its scale.
template <class Number>
void kept_factors(const Task<Number>& t, size_t i, double* keep_S) {
  const Dropout& dropout = t.p.dropout;
  std::array<uint8_t, 16> bytes{};
  for (size_t j = 0; j < t.keys; ++j) {
    if (j % 16 == 0) {
      bytes = dropout_bytes(dropout, static_cast<uint32_t>(t.sequence), static_cast<uint32_t>(t.p.heads),
                            static_cast<uint32_t>(t.head), static_cast<uint32_t>(t.position(i)),
                            static_cast<uint32_t>(j / 16));
    }
    keep_S[j] = bytes[j % 16] < dropout.threshold() ? 0 : dropout.scale();
  }
}

// Sums in double: dK and dV of a sequence [S, K], the gradients of both tables [R, K], and rows.
struct Sums {
  double *dk, *dv, *dkr, *dqr, *w_S, *keep_S, *dp_S, *dq_K;
};

template <class Number>
void add_query(const Task<Number>& t, size_t i, const Sums& sums) {
  const auto& p = t.p;
  const size_t size = p.head_size;
  const Number* q_K = t.at_query(p.q, i);
  const Number* dout_K = t.at_query(p.dout, i);
  std::fill_n(sums.dq_K, size, 0.0);
  if (softmax(t, i, sums.w_S)) {
    kept_factors(t, i, sums.keep_S);
    double rho = 0;  // dO_i . O_i
    for (size_t j = 0; j < t.keys; ++j) {
      if (sums.w_S[j] == 0) continue;  // a masked key may hold anything, NaN too
      sums.dp_S[j] = sums.keep_S[j] * dot(dout_K, t.at_key(p.v, j), size);
      rho += sums.w_S[j] * sums.dp_S[j];
    }
    for (size_t j = 0; j < t.keys; ++j) {
      if (sums.w_S[j] == 0) continue;
      const Number* k_K = t.at_key(p.k, j);
      const double g = p.scale * sums.w_S[j] * (sums.dp_S[j] - rho);
      add(sums.dv + j * size, sums.keep_S[j] * sums.w_S[j], dout_K, size);
      add(sums.dq_K, g, k_K, size);
      add(sums.dk + j * size, g, q_K, size);
      if (p.kr.data != nullptr) {
        add(sums.dq_K, g, t.at_row(p.kr, t.row(i, j)), size);
        add(sums.dkr + t.row(i, j) * size, g, q_K, size);
      }
      if (p.qr.data != nullptr) {
        add(sums.dk + j * size, g, t.at_row(p.qr, t.row(i, j)), size);
        add(sums.dqr + t.row(i, j) * size, g, k_K, size);
      }
    }
  }
  store(sums.dq_K, size, t.at_query(p.dq, i));
}

}  // namespace

template <class Number>
size_t reference_attention_backward_scratch_bytes(const AttentionBackwardOf<Number>& p) {
  size_t longest = 1;
  for (size_t b = 0; b < p.sequences; ++b)
    longest = std::max(longest, static_cast<size_t>(p.starts[b + 1] - p.starts[b]));
  const size_t numbers = 2 * (longest + p.relative_rows) * p.head_size + 3 * longest + p.head_size;
  return (numbers * sizeof(double) + 63) / 64 * 64;
}

template <class Number>
void reference_attention_backward(const AttentionBackwardOf<Number>& p, size_t head, void* worker_scratch) {
  const size_t size = p.head_size, table = p.relative_rows * size;
  Sums sums{};
  sums.dkr = static_cast<double*>(worker_scratch);
  sums.dqr = sums.dkr + table;
  sums.dk = sums.dqr + table;
  std::fill_n(sums.dkr, 2 * table, 0.0);
  for (size_t sequence = 0; sequence < p.sequences; ++sequence) {
    const Task<Number> t = make_task(p, sequence, head);
    sums.dv = sums.dk + t.keys * size;
    sums.w_S = sums.dv + t.keys * size;
    sums.keep_S = sums.w_S + t.keys;
    sums.dp_S = sums.keep_S + t.keys;
    sums.dq_K = sums.dp_S + t.keys;
    std::fill_n(sums.dk, 2 * t.keys * size, 0.0);
    for (size_t i = 0; i < t.queries; ++i) add_query(t, i, sums);
    for (size_t j = 0; j < t.keys; ++j) {
      store(sums.dk + j * size, size, t.at_key(p.dk, j));
      store(sums.dv + j * size, size, t.at_key(p.dv, j));
    }
  }
  for (size_t r = 0; r < p.relative_rows; ++r) {
    if (p.kr.data != nullptr) store(sums.dkr + r * size, size, p.dkr.data + p.dkr.offset(r, head));
    if (p.qr.data != nullptr) store(sums.dqr + r * size, size, p.dqr.data + p.dqr.offset(r, head));
  }
}

template size_t reference_attention_backward_scratch_bytes(const AttentionBackwardOf<float>&);
template size_t reference_attention_backward_scratch_bytes(const AttentionBackwardOf<double>&);
template void reference_attention_backward(const AttentionBackwardOf<float>&, size_t, void*);
template void reference_attention_backward(const AttentionBackwardOf<double>&, size_t, void*);

}  // namespace deberta
