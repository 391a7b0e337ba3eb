// Scores of spans and words against plain sums in double, over all spans listed one by one.
#include "kernels/entity_scores.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "support/random.h"

namespace deberta::entity_scores_test {
namespace {

using test::normals;

// First and last word of each span, in the order of the scores.
std::vector<std::pair<size_t, size_t>> list_spans(size_t words, size_t width) {
  std::vector<std::pair<size_t, size_t>> spans;
  for (size_t first = 0; first < words; ++first) {
    for (size_t last = first; last < words && last - first < width; ++last) spans.emplace_back(first, last);
  }
  return spans;
}

TEST(SpansOfWords, AreCountedAsTheyAreListed) {
  for (size_t words = 0; words < 9; ++words) {
    for (size_t width = 1; width < 11; ++width) {
      const auto spans = list_spans(words, width);
      EXPECT_EQ(count_spans(words, width), spans.size()) << words << ", " << width;
      for (size_t first = 0; first < words; ++first) {
        const auto at = std::ranges::find(spans, std::pair(first, first)) - spans.begin();
        EXPECT_EQ(first_span_of(first, words, width), static_cast<size_t>(at)) << words << ", " << width;
      }
    }
  }
}

struct SpanCase {
  size_t words, width, labels, columns;
};
constexpr SpanCase kSpanCases[] = {{7, 3, 4, 19}, {2, 5, 1, 8}, {5, 1, 3, 32}, {1, 1, 2, 3}};

double value(const std::vector<float>& rows, size_t row, size_t columns, size_t column) {
  return double{rows[row * columns + column]};
}

// Operands of a case, and room for one score more than there are. A label has `parts` rows of columns.
struct SpanRun {
  SpanRun(const SpanCase& c, size_t parts)
      : labels(c.labels),
        first(normals(1, c.words * c.columns)),
        last(normals(2, c.words * c.columns)),
        label(normals(3, c.labels * parts * c.columns)),
        constant(normals(4, c.labels)),
        spans(list_spans(c.words, c.width)),
        y(spans.size() * c.labels + 1, 99.0f),
        params{.first_WF = first.data(),
               .last_WF = last.data(),
               .label_CF = label.data(),
               .constant_C = constant.data(),
               .words = c.words,
               .labels = c.labels,
               .columns = c.columns,
               .width = c.width,
               .y_SC = y.data()} {}

  // sum(first word, last word, label), without the constant.
  template <class Sum>
  void expect(const Sum& sum) const {
    for (size_t s = 0; s < spans.size(); ++s) {
      for (size_t k = 0; k < labels; ++k)
        EXPECT_NEAR(y[s * labels + k], double{constant[k]} + sum(spans[s].first, spans[s].second, k), 1e-4)
            << s << ", " << k;
    }
    EXPECT_EQ(y.back(), 99.0f);
  }

  size_t labels;
  std::vector<float> first, last, label, constant;
  std::vector<std::pair<size_t, size_t>> spans;
  std::vector<float> y;
  SpanScoreParams params;
};

TEST(SpanScores, AreOfTheSumOfBothEndsAfterTheRelu) {
  ThreadPool pool(2);
  for (const SpanCase& c : kSpanCases) {
    SpanRun run(c, 1);
    std::vector<float> inner(2 * c.columns);
    run.params.inner_F = inner.data();
    run.params.parallel = pool.parallel();
    span_scores({}, run.params);
    run.expect([&](size_t a, size_t b, size_t k) {
      double all = 0;
      for (size_t f = 0; f < c.columns; ++f) {
        const double sum = value(run.first, a, c.columns, f) + value(run.last, b, c.columns, f);
        all += std::max(sum, 0.0) * value(run.label, k, c.columns, f);
      }
      return all;
    });
  }
}

TEST(MarkerScores, AreThoseOfBothEndsAdded) {
  for (const SpanCase& c : kSpanCases) {
    SpanRun run(c, 2);
    std::vector<double> ends(c.words * c.labels);
    run.params.ends_WC = ends.data();
    marker_scores({}, run.params);
    run.expect([&](size_t a, size_t b, size_t k) {
      double all = 0;
      for (size_t f = 0; f < c.columns; ++f) {
        all += value(run.first, a, c.columns, f) * value(run.label, k, 2 * c.columns, f);
        all += value(run.last, b, c.columns, f) * value(run.label, k, 2 * c.columns, c.columns + f);
      }
      return all;
    });
  }
}

TEST(WordScores, ReadTheProductAndBothAlone) {
  constexpr size_t kWords = 3, kLabels = 2, kUnits = 5, kColumns = 11;
  const auto word = normals(1, kWords * kUnits), label = normals(2, kLabels * kUnits);
  std::vector<float> product(kWords * kLabels * kUnits);
  multiply_rows({}, {.word_WU = word.data(),
                     .label_CU = label.data(),
                     .words = kWords,
                     .labels = kLabels,
                     .columns = kUnits,
                     .z_WCU = product.data()});
  for (size_t w = 0; w < kWords; ++w) {
    for (size_t c = 0; c < kLabels; ++c) {
      for (size_t u = 0; u < kUnits; ++u)
        EXPECT_EQ(product[(w * kLabels + c) * kUnits + u], word[w * kUnits + u] * label[c * kUnits + u]);
    }
  }
  const auto pair = normals(3, kWords * kLabels * kColumns), of_word = normals(4, kWords * kColumns);
  const auto of_label = normals(5, kLabels * kColumns), out = normals(6, 3 * kColumns), constant = normals(7, 3);
  std::vector<float> y(kWords * kLabels * 3);
  word_scores({}, {.pair_WCF = pair.data(),
                   .word_WF = of_word.data(),
                   .label_CF = of_label.data(),
                   .out_3F = out.data(),
                   .constant_3 = constant.data(),
                   .words = kWords,
                   .labels = kLabels,
                   .columns = kColumns,
                   .y_WC3 = y.data()});
  for (size_t w = 0; w < kWords; ++w) {
    for (size_t c = 0; c < kLabels; ++c) {
      for (size_t j = 0; j < 3; ++j) {
        double expected = double{constant[j]};
        for (size_t f = 0; f < kColumns; ++f) {
          const double inner = value(pair, w * kLabels + c, kColumns, f) + value(of_word, w, kColumns, f) +
                               value(of_label, c, kColumns, f);
          expected += std::max(inner, 0.0) * value(out, j, kColumns, f);
        }
        EXPECT_NEAR(y[(w * kLabels + c) * 3 + j], expected, 1e-4) << w << ", " << c << ", " << j;
      }
    }
  }
}

}  // namespace
}  // namespace deberta::entity_scores_test
