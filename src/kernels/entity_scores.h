// The scores of entities (model-heads.md#entities), from rows that products have made of the words and labels of one
// sequence. A span is its first and its last word; spans stand in the order of their first words, those of one word in
// the order of their lengths, up to `width` words:
//   span    y[s,c] = sum_f relu( first[a,f] + last[b,f] ) label[c,f] + constant[c]      s from word a to word b
//   marker  y[s,c] = first[a] . label[c, 0..U) + last[b] . label[c, U..2U) + constant[c]
//   word    y[w,c,j] = sum_f relu( pair[w,c,f] + word[w,f] + label[c,f] ) out[j,f] + constant[j]
// Sums are in double and in a fixed order: a score depends on its own words and label alone.
// W words  C labels  S spans  U columns of words and labels  F inner columns
#pragma once
#include <cstddef>

#include "base/parallel.h"
#include "kernels/dispatch.h"

namespace deberta {

// S of so many words.
constexpr size_t count_spans(size_t words, size_t width) {
  if (words <= width) return words * (words + 1) / 2;
  return words * width - width * (width - 1) / 2;
}

// Where the spans of a word begin among all of them.
constexpr size_t first_span_of(size_t word, size_t words, size_t width) {
  const size_t whole = words < width ? 0 : words - width;  // words before this one have spans of every length
  if (word <= whole) return word * width;
  return whole * width + count_spans(words - whole, width) - count_spans(words - word, width);
}

struct SpanScoreParams {
  const float* first_WF = nullptr;  // marker: [W, U]
  const float* last_WF = nullptr;
  const float* label_CF = nullptr;  // marker: [C, 2 U]
  const float* constant_C = nullptr;
  size_t words = 0;
  size_t labels = 0;
  size_t columns = 0;  // F; marker: U
  size_t width = 0;
  float* inner_F = nullptr;   // room for one row of each worker; span_scores
  double* ends_WC = nullptr;  // room for what the last words add; marker_scores
  float* y_SC = nullptr;
  Parallel parallel = serial();
};
void span_scores(const KernelSet& kernels, const SpanScoreParams& params);
void marker_scores(const KernelSet& kernels, const SpanScoreParams& params);

// z[w,c] = word[w] * label[c], element by element: one operand of the product that makes `pair`.
struct RowProductParams {
  const float* word_WU = nullptr;
  const float* label_CU = nullptr;
  size_t words = 0;
  size_t labels = 0;
  size_t columns = 0;  // U
  float* z_WCU = nullptr;
  Parallel parallel = serial();
};
void multiply_rows(const KernelSet& kernels, const RowProductParams& params);

inline constexpr size_t kWordScores = 3;  // how well an entity of the label begins there, ends there, goes on there

struct WordScoreParams {
  const float* pair_WCF = nullptr;
  const float* word_WF = nullptr;
  const float* label_CF = nullptr;
  const float* out_3F = nullptr;
  const float* constant_3 = nullptr;
  size_t words = 0;
  size_t labels = 0;
  size_t columns = 0;  // F
  float* y_WC3 = nullptr;
  Parallel parallel = serial();
};
void word_scores(const KernelSet& kernels, const WordScoreParams& params);

}  // namespace deberta
