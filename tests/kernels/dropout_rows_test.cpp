// Dropout of rows: which bytes, and what they may depend on.
#include "kernels/dropout_rows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/thread_pool.h"
#include "support/expect_error.h"
#include "support/implementations.h"
#include "support/random.h"

namespace deberta::dropout_rows_test {
namespace {

const Dropout kDropout{.p = 0.25, .seed = 0x1122334455667788, .step = 5, .layer = 3, .sequence_offset = 10};

struct Pack {
  std::vector<int32_t> starts;
  std::vector<int32_t> positions;
};

// Ones after dropout.
std::vector<float> masks(const Dropout& dropout, const Pack& pack, size_t columns, const Parallel& parallel = serial(),
                         const KernelSet& kernels = select_kernels("auto")) {
  const auto rows = static_cast<size_t>(pack.starts.back());
  std::vector<float> y(rows * columns, 1.0f);
  DropoutRowsParams p{};
  p.dropout = {.dropout = dropout, .starts = pack.starts.data(), .sequences = pack.starts.size() - 1};
  if (!pack.positions.empty()) p.dropout.positions_T = pack.positions.data();
  p.x_TD = y.data();
  p.y_TD = y.data();
  p.rows = rows;
  p.columns = columns;
  p.parallel = parallel;
  dropout_rows(kernels, p);
  return y;
}

std::vector<float> rows_of(const std::vector<float>& all, size_t first, size_t count, size_t columns) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(first * columns);
  return {begin, begin + static_cast<std::ptrdiff_t>(count * columns)};
}

TEST(DropoutRows, CounterIsPositionBlockSequenceAndLayerWithStep) {
  const std::vector<float> y = masks(kDropout, {{0, 5, 12}, {}}, 50);
  for (uint32_t row = 0; row < 12; ++row) {
    const uint32_t sequence = row < 5 ? 10 : 11, position = row < 5 ? row : row - 5;
    for (uint32_t c = 0; c < 50; ++c) {
      const PhiloxCounter words = philox({position, c / 16, sequence, 3 | 5 << 8}, {0x55667788, 0x11223344});
      const uint32_t byte = words[c % 16 / 4] >> 8 * (c % 4) & 255;
      EXPECT_EQ(y[row * 50 + c], byte < 64 ? 0.0f : 256.0f / 192) << row << " " << c;
    }
  }
}

TEST(DropoutRows, EveryImplementationGivesTheSameBits) {
  std::vector<size_t> widths = {768, 1000, 8192, 8193};
  for (size_t columns = 1; columns <= 300; ++columns) widths.push_back(columns);
  for (const size_t columns : widths) {
    const Pack pack{{0, 2, 3}, {}};
    const std::vector<float> expected = masks(kDropout, pack, columns, serial(), select_kernels("reference"));
    for (const KernelLevel level : test::levels_of(Operation::kLayerNorm)) {
      ASSERT_EQ(masks(kDropout, pack, columns, serial(), select_kernels(to_string(level))), expected)
          << to_string(level) << ", " << columns << " columns";
    }
  }
}

TEST(DropoutRows, ATableIsTheSameForAllSequences) {
  std::vector<float> y(6 * 20, 1.0f);
  for (const uint32_t offset : {0u, 10u}) {
    DropoutRowsParams p{};
    p.dropout.dropout = kDropout;
    p.dropout.dropout.sequence_offset = offset;
    const std::vector<float> ones(6 * 20, 1.0f);
    p.x_TD = ones.data();
    p.y_TD = y.data();
    p.rows = 6;
    p.columns = 20;
    dropout_rows(select_kernels("auto"), p);
    Dropout first = kDropout;
    first.sequence_offset = 0;
    EXPECT_EQ(y, masks(first, {{0, 6}, {}}, 20)) << "sequence 0, the row in place of the position";
  }
}

TEST(DropoutRows, DependsOnLogicalIndicesOnly) {
  const std::vector<float> whole = masks(kDropout, {{0, 7, 9, 30}, {}}, 40);
  Dropout later = kDropout;
  later.sequence_offset += 2;
  EXPECT_EQ(masks(later, {{0, 21}, {}}, 40), rows_of(whole, 9, 21, 40)) << "the third sequence in a micro-batch alone";
  EXPECT_EQ(rows_of(masks(kDropout, {{0, 12, 24, 45}, {}}, 40), 24, 21, 40), rows_of(whole, 9, 21, 40)) << "padded";
  const std::vector<float> chosen = masks(kDropout, {{0, 1, 1, 3}, {4, 2, 19}}, 40);
  EXPECT_EQ(rows_of(chosen, 0, 1, 40), rows_of(whole, 4, 1, 40)) << "selected rows";
  EXPECT_EQ(rows_of(chosen, 1, 1, 40), rows_of(whole, 9 + 2, 1, 40));
  EXPECT_EQ(rows_of(chosen, 2, 1, 40), rows_of(whole, 9 + 19, 1, 40));
  for (const unsigned threads : {1u, 2u, 3u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(masks(kDropout, {{0, 7, 9, 30}, {}}, 40, pool.parallel()), whole) << threads << " threads";
  }
  for (const auto change : {+[](Dropout& d) { ++d.seed; }, +[](Dropout& d) { ++d.step; },
                            +[](Dropout& d) { ++d.layer; }, +[](Dropout& d) { ++d.sequence_offset; }}) {
    Dropout changed = kDropout;
    change(changed);
    EXPECT_NE(masks(changed, {{0, 7, 9, 30}, {}}, 40), whole);
  }
}

TEST(DropoutRows, KeepsTheStatedShareAndTheExpectation) {
  for (const double rate : {0.1, 0.5}) {
    const Dropout d{.p = rate, .seed = 1};
    const std::vector<float> y = masks(d, {{0, 100}, {}}, 400);
    double sum = 0, kept = 0;
    for (const float factor : y) {
      sum += double{factor};
      kept += factor != 0 ? 1 : 0;
    }
    EXPECT_NEAR(kept / 40000, 1 - d.threshold() / 256.0, 0.01);
    EXPECT_NEAR(sum / 40000, 1, 0.02);
  }
}

TEST(DropoutRows, MultipliesAndHidesNoNumberThatIsNone) {
  const std::vector<float> x = test::normals(1, 3 * 33);
  std::vector<float> y(x.size());
  const int32_t starts[] = {0, 3};
  DropoutRowsParams p{};
  p.dropout = {.dropout = kDropout, .starts = starts, .sequences = 1};
  p.x_TD = x.data();
  p.y_TD = y.data();
  p.rows = 3;
  p.columns = 33;
  dropout_rows(select_kernels("auto"), p);
  const std::vector<float> factors = masks(kDropout, {{0, 3}, {}}, 33);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(y[i], x[i] * factors[i]);
  const std::vector<float> none(x.size(), std::numeric_limits<float>::quiet_NaN());
  p.x_TD = none.data();
  dropout_rows(select_kernels("auto"), p);
  for (const float number : y) EXPECT_TRUE(std::isnan(number));
}

TEST(DropoutRows, RateZeroCopies) {
  const std::vector<float> x = test::normals(1, 40);
  std::vector<float> y(40);
  DropoutRowsParams p{};
  p.x_TD = x.data();
  p.y_TD = y.data();
  p.rows = 4;
  p.columns = 10;
  dropout_rows(select_kernels("auto"), p);
  EXPECT_EQ(y, x);
}

TEST(DropoutRows, RefusesRatesAndSequencesThatCannotBe) {
  float x[4] = {};
  const int32_t starts[] = {0, 3};
  DropoutRowsParams p{};
  p.x_TD = p.y_TD = x;
  p.rows = 2;
  p.columns = 2;
  for (const double rate : {-0.1, 0.999, 1.0, std::nan("")}) {
    p.dropout.dropout.p = rate;
    EXPECT_ERROR(dropout_rows(select_kernels("auto"), p), kInternal, "dropout outside [0, 1)");
  }
  p.dropout = {.dropout = kDropout, .starts = starts, .sequences = 1};
  EXPECT_ERROR(dropout_rows(select_kernels("auto"), p), kInternal, "do not cover the rows");
  p.x_TD = nullptr;
  EXPECT_ERROR(dropout_rows(select_kernels("auto"), p), kInternal, "a null pointer");
}

}  // namespace
}  // namespace deberta::dropout_rows_test
