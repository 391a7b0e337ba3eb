// A word at a time, with all spans that begin there; sums in a few chains, which the compiler's vectors hold.
#include "kernels/entity_scores.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/row_blocks.h"

namespace deberta {
namespace {

constexpr size_t kChains = 8;

// sum_f x[f] y[f]; chain k takes the columns k, k + 8, ...
double dot(const float* x_F, const float* y_F, size_t columns) {
  std::array<double, kChains> sums{};
  size_t f = 0;
  for (; f + kChains <= columns; f += kChains) {
    for (size_t k = 0; k < kChains; ++k) sums[k] += double{x_F[f + k]} * double{y_F[f + k]};
  }
  for (size_t k = 0; f + k < columns; ++k) sums[k] += double{x_F[f + k]} * double{y_F[f + k]};
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

size_t last_word_of(const SpanScoreParams& p, size_t first) {
  return std::min(p.words, first + p.width) - 1;
}

// Where the scores of the spans that begin with word a stand.
float* scores_of(const SpanScoreParams& p, size_t a) {
  return p.y_SC + first_span_of(a, p.words, p.width) * p.labels;
}

void score_spans_of(const SpanScoreParams& p, size_t a, float* inner_F) {
  const float* first_F = p.first_WF + a * p.columns;
  float* y = scores_of(p, a);
  for (size_t b = a; b <= last_word_of(p, a); ++b) {
    const float* last_F = p.last_WF + b * p.columns;
    for (size_t f = 0; f < p.columns; ++f) inner_F[f] = std::max(first_F[f] + last_F[f], 0.0f);
    for (size_t c = 0; c < p.labels; ++c)
      *y++ = static_cast<float>(dot(inner_F, p.label_CF + c * p.columns, p.columns) + double{p.constant_C[c]});
  }
}

// What word b adds to the scores of the spans that end with it.
void sum_ends_of(const SpanScoreParams& p, size_t b) {
  const float* last_U = p.last_WF + b * p.columns;
  for (size_t c = 0; c < p.labels; ++c)
    p.ends_WC[b * p.labels + c] = dot(last_U, p.label_CF + (2 * c + 1) * p.columns, p.columns);
}

void score_markers_of(const SpanScoreParams& p, size_t a) {
  const float* first_U = p.first_WF + a * p.columns;
  float* y = scores_of(p, a);
  for (size_t c = 0; c < p.labels; ++c) {
    const double begin = dot(first_U, p.label_CF + 2 * c * p.columns, p.columns) + double{p.constant_C[c]};
    for (size_t b = a; b <= last_word_of(p, a); ++b)
      y[(b - a) * p.labels + c] = static_cast<float>(begin + p.ends_WC[b * p.labels + c]);
  }
}

OperationScope scope_of(const KernelSet& kernels, const SpanScoreParams& p) {
  return {kernels, {p.first_WF, p.last_WF, p.label_CF, p.constant_C, p.inner_F, p.ends_WC, p.y_SC}};
}

// relu(pair + word + label) over the columns, with each row of `out`.
void score_word(const WordScoreParams& p, size_t w, size_t c) {
  const float* pair_F = p.pair_WCF + (w * p.labels + c) * p.columns;
  const float* word_F = p.word_WF + w * p.columns;
  const float* label_F = p.label_CF + c * p.columns;
  std::array<double, kWordScores> sums{};
  for (size_t f = 0; f < p.columns; ++f) {
    const double inner = std::max(pair_F[f] + word_F[f] + label_F[f], 0.0f);
    for (size_t j = 0; j < kWordScores; ++j) sums[j] += inner * double{p.out_3F[j * p.columns + f]};
  }
  float* y_3 = p.y_WC3 + (w * p.labels + c) * kWordScores;
  for (size_t j = 0; j < kWordScores; ++j) y_3[j] = static_cast<float>(sums[j] + double{p.constant_3[j]});
}

}  // namespace

void span_scores(const KernelSet& kernels, const SpanScoreParams& params) {
  const OperationScope scope = scope_of(kernels, params);
  parallel_for(params.parallel, params.words,
               [&](size_t a, size_t worker) { score_spans_of(params, a, params.inner_F + worker * params.columns); });
}

void marker_scores(const KernelSet& kernels, const SpanScoreParams& params) {
  const OperationScope scope = scope_of(kernels, params);
  parallel_for(params.parallel, params.words, [&](size_t b, size_t) { sum_ends_of(params, b); });
  parallel_for(params.parallel, params.words, [&](size_t a, size_t) { score_markers_of(params, a); });
}

void multiply_rows(const KernelSet& kernels, const RowProductParams& p) {
  const OperationScope scope(kernels, {p.word_WU, p.label_CU, p.z_WCU});
  for_each_row(p.parallel, p.words * p.labels, p.columns, [&](size_t n) {
    const float* word_U = p.word_WU + n / p.labels * p.columns;
    const float* label_U = p.label_CU + n % p.labels * p.columns;
    float* z_U = p.z_WCU + n * p.columns;
    for (size_t u = 0; u < p.columns; ++u) z_U[u] = word_U[u] * label_U[u];
  });
}

void word_scores(const KernelSet& kernels, const WordScoreParams& p) {
  const OperationScope scope(kernels, {p.pair_WCF, p.word_WF, p.label_CF, p.out_3F, p.constant_3, p.y_WC3});
  for_each_row(p.parallel, p.words * p.labels, p.columns, [&](size_t n) { score_word(p, n / p.labels, n % p.labels); });
}

}  // namespace deberta
