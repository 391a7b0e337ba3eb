// One sequence at a time, a block of columns at a time; sums in double, in the order of the tokens.
#include "kernels/pooling.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace deberta {
namespace {

constexpr size_t kColumnsAtOnce = 64;

// The sum of weight_of(t) h_t over the tokens of sequence b that count.
template <class Weight>
void add_up(const PoolingInput& in, size_t b, const Weight& weight_of, float* pooled_D) {
  for (size_t first = 0; first < in.columns; first += kColumnsAtOnce) {
    const size_t width = std::min(kColumnsAtOnce, in.columns - first);
    std::array<double, kColumnsAtOnce> sums{};
    for (size_t t = in.begin(b); t < in.end(b); ++t) {
      if (!in.counts(t)) continue;
      const double weight = weight_of(t);
      const float* h = in.row(t) + first;
      for (size_t d = 0; d < width; ++d) sums[d] += weight * double{h[d]};
    }
    for (size_t d = 0; d < width; ++d) pooled_D[first + d] = static_cast<float>(sums[d]);
  }
}

void take_mean(const PoolingInput& in, size_t b, float* pooled_D) {
  size_t count = 0;
  for (size_t t = in.begin(b); t < in.end(b); ++t) count += in.counts(t);
  const double weight = 1 / static_cast<double>(count);
  add_up(
      in, b, [&](size_t) { return weight; }, pooled_D);
}

void take_largest(const PoolingInput& in, size_t b, float* pooled_D, int32_t* largest_D) {
  std::fill_n(pooled_D, in.columns, -std::numeric_limits<float>::infinity());
  if (largest_D != nullptr) std::fill_n(largest_D, in.columns, -1);
  for (size_t t = in.begin(b); t < in.end(b); ++t) {
    if (!in.counts(t)) continue;
    const float* h_D = in.row(t);
    for (size_t d = 0; d < in.columns; ++d) {
      const bool is_largest = h_D[d] > pooled_D[d] || std::isnan(h_D[d]);  // a NaN stays, so that it can be detected
      if (!is_largest) continue;
      pooled_D[d] = h_D[d];
      if (largest_D != nullptr) largest_D[d] = static_cast<int32_t>(t);
    }
  }
}

void weigh(const PoolingInput& in, size_t b, double* weights_T) {
  double largest = -std::numeric_limits<double>::infinity();
  for (size_t t = in.begin(b); t < in.end(b); ++t) {
    if (!in.counts(t)) continue;
    const float* h_D = in.row(t);
    double sum = 0;
    for (size_t d = 0; d < in.columns; ++d) sum += double{h_D[d]} * double{in.query_D[d]};
    weights_T[t] = sum;
    largest = std::max(largest, sum);
  }
  double total = 0;
  for (size_t t = in.begin(b); t < in.end(b); ++t) {
    if (in.counts(t)) total += weights_T[t] = std::exp(weights_T[t] - largest);
  }
  for (size_t t = in.begin(b); t < in.end(b); ++t) {
    if (in.counts(t)) weights_T[t] /= total;
  }
}

void pool_row(const PoolingInput& in, size_t b, const PoolingOutput& out) {
  float* pooled_D = out.pooled_BD + b * in.columns;
  int32_t* largest_D = out.largest_BD == nullptr ? nullptr : out.largest_BD + b * in.columns;
  if (!has_rows_to_pool(in, b)) {
    std::fill_n(pooled_D, in.columns, 0.0f);
    if (largest_D != nullptr) std::fill_n(largest_D, in.columns, -1);
    return;
  }
  switch (in.pooling) {
    case RowPooling::kFirst:
      std::copy_n(in.row(in.begin(b)), in.columns, pooled_D);
      break;
    case RowPooling::kMean:
      take_mean(in, b, pooled_D);
      break;
    case RowPooling::kMax:
      take_largest(in, b, pooled_D, largest_D);
      break;
    case RowPooling::kAttention:
      weigh(in, b, out.weights_T);
      add_up(
          in, b, [&](size_t t) { return out.weights_T[t]; }, pooled_D);
      break;
  }
}

}  // namespace

bool has_rows_to_pool(const PoolingInput& input, size_t b) {
  for (size_t t = input.begin(b); t < input.end(b); ++t) {
    if (input.counts(t)) return true;
  }
  return false;
}

void pool_rows(const KernelSet& kernels, const PoolingInput& input, const PoolingOutput& output,
               const Parallel& parallel) {
  const OperationScope scope(
      kernels, {input.hidden_TD, input.mask_T, input.query_D, output.pooled_BD, output.weights_T, output.largest_BD});
  const bool copies = input.pooling == RowPooling::kFirst;  // copying is not worth a thread
  parallel_for(copies ? serial() : parallel, input.sequences(), [&](size_t b, size_t) { pool_row(input, b, output); });
}

namespace {

// The softmax of scores, in place.
void take_softmax(std::span<double> scores) {
  const double largest = *std::max_element(scores.begin(), scores.end());
  double total = 0;
  for (double& score : scores) total += score = std::exp(score - largest);
  for (double& score : scores) score /= total;
}

void pool_group(const GroupPoolingParams& p, size_t n) {
  const auto begin = static_cast<size_t>(p.group_starts[n]), end = static_cast<size_t>(p.group_starts[n + 1]);
  float* pooled_D = p.pooled_ND + n * p.columns;
  std::fill_n(pooled_D, p.columns, 0.0f);
  if (begin == end) return;
  const auto row_D = [&](int32_t row) { return p.hidden_TD + static_cast<size_t>(row) * p.columns; };
  const float* query_D = row_D(p.query_rows_N[n]);
  for (size_t i = begin; i < end; ++i) {
    const float* h_D = row_D(p.rows[i]);
    double sum = 0;
    for (size_t d = 0; d < p.columns; ++d) sum += double{h_D[d]} * double{query_D[d]};
    p.weights[i] = sum / std::sqrt(static_cast<double>(p.columns));
  }
  take_softmax({p.weights + begin, end - begin});
  for (size_t d = 0; d < p.columns; ++d) {
    double sum = 0;
    for (size_t i = begin; i < end; ++i) sum += p.weights[i] * double{row_D(p.rows[i])[d]};
    pooled_D[d] = static_cast<float>(sum);
  }
}

}  // namespace

void pool_groups(const KernelSet& kernels, const GroupPoolingParams& params) {
  const OperationScope scope(kernels, {params.hidden_TD, params.group_starts, params.rows, params.query_rows_N,
                                       params.weights, params.pooled_ND});
  parallel_for(params.parallel, params.groups, [&](size_t n, size_t) { pool_group(params, n); });
}

}  // namespace deberta
