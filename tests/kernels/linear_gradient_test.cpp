// Transposition and the gradients of a linear layer: every implementation that this processor has, against sums in
// double of the operands as they were rounded.
#include "kernels/linear_gradient.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "base/arena.h"
#include "base/thread_pool.h"
#include "kernels/transpose_rows.h"
#include "support/expect_error.h"
#include "support/implementations.h"
#include "support/random.h"

namespace deberta::linear_gradient_test {
namespace {

using test::Implementation;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kGuard = 12345.5f;

// Rows `stride` apart, with `between` between them, before the first and nowhere behind the last.
struct Rows {
  size_t rows, columns, stride;
  std::vector<float> memory;

  Rows(size_t row_count, size_t column_count, float between)
      : rows(row_count), columns(column_count), stride(column_count + 3) {
    memory.assign(1 + (rows - 1) * stride + columns, between);
  }
  static Rows random(uint64_t seed, size_t row_count, size_t column_count) {
    Rows filled(row_count, column_count, kNan);
    const auto values = test::normals(seed, row_count * column_count);
    for (size_t i = 0; i < row_count; ++i) std::copy_n(&values[i * column_count], column_count, filled.row(i));
    return filled;
  }
  float* row(size_t i) { return memory.data() + 1 + i * stride; }
  const float* row(size_t i) const { return memory.data() + 1 + i * stride; }
  bool has_guards() const {
    for (size_t at = 0; at < memory.size(); ++at) {
      const bool is_element = at >= 1 && (at - 1) % stride < columns;
      if (!is_element && memory[at] != kGuard) return false;
    }
    return true;
  }
};

struct TransposeShape {
  size_t rows, columns;
};
constexpr TransposeShape kTransposeShapes[] = {{1, 1},  {1, 70}, {2, 3},   {7, 64}, {8, 65},   {15, 16},   {16, 17},
                                               {17, 1}, {63, 8}, {64, 64}, {65, 9}, {129, 63}, {130, 130}, {201, 5}};

class TransposeRows : public testing::TestWithParam<KernelLevel> {
 protected:
  KernelSet kernels() const { return select_kernels(to_string(GetParam())); }
};
INSTANTIATE_TEST_SUITE_P(Levels, TransposeRows, testing::ValuesIn(test::levels_of(Operation::kGemm)),
                         [](const auto& level) { return std::string(to_string(level.param)); });

TEST_P(TransposeRows, MovesEveryElementAndSumsColumns) {
  for (const auto& [rows, columns] : kTransposeShapes) {
    for (const bool adds : {false, true}) {
      const Rows x = Rows::random(1, rows, columns);
      Rows y(columns, rows, kGuard);
      std::vector<float> sums(columns + 2, kGuard);
      std::fill_n(sums.begin() + 1, columns, adds ? 0.5f : kNan);
      TransposeRowsParams p{};
      p.x_TN = x.row(0);
      p.x_stride = x.stride;
      p.rows = rows;
      p.columns = columns;
      p.y_NT = y.row(0);
      p.y_stride = y.stride;
      p.sums_N = sums.data() + 1;
      p.adds_sums = adds;
      transpose_rows(kernels(), p);
      for (size_t n = 0; n < columns; ++n) {
        double sum = adds ? 0.5 : 0;
        for (size_t t = 0; t < rows; ++t) {
          ASSERT_EQ(y.row(n)[t], x.row(t)[n]) << rows << " x " << columns;
          sum += double{x.row(t)[n]};
        }
        ASSERT_NEAR(sums[1 + n], sum, 1e-5) << rows << " x " << columns;
      }
      EXPECT_TRUE(y.has_guards());
      EXPECT_EQ(sums.front(), kGuard);
      EXPECT_EQ(sums.back(), kGuard);
    }
  }
}

// y [rows, stride] holds `element(i, j)` rounded, a zero behind an odd number of columns, and nothing behind that.
template <class Element>
void expect_rounded(const std::vector<Bf16>& y, size_t rows, size_t columns, Element element) {
  const size_t padded = (columns + 1) / 2 * 2, stride = padded + 2;
  for (size_t i = 0; i < rows; ++i) {
    for (size_t j = 0; j < stride; ++j) {
      const Bf16 behind = j < padded ? Bf16{0} : Bf16{0xABCD};
      ASSERT_EQ(y[i * stride + j], j < columns ? to_bf16(element(i, j)) : behind) << rows << " x " << columns;
    }
  }
}

TEST_P(TransposeRows, RoundsToBf16WithAZeroBehindAnOddNumber) {
  for (const auto& [rows, columns] : kTransposeShapes) {
    const Rows x = Rows::random(1, rows, columns);
    TransposeRowsParams p{};
    p.x_TN = x.row(0);
    p.x_stride = x.stride;
    p.rows = rows;
    p.columns = columns;
    p.y_stride = (rows + 1) / 2 * 2 + 2;
    p.rounded_stride = (columns + 1) / 2 * 2 + 2;
    std::vector<Bf16> turned(columns * p.y_stride, 0xABCD), rounded(rows * p.rounded_stride, 0xABCD);
    for (const bool turns : {true, false}) {
      p.y_bf16_NT = turns ? turned.data() : nullptr;
      p.rounded_TN = turns ? nullptr : rounded.data();
      transpose_rows(kernels(), p);
    }
    expect_rounded(turned, columns, rows, [&](size_t n, size_t t) { return x.row(t)[n]; });
    expect_rounded(rounded, rows, columns, [&](size_t t, size_t n) { return x.row(t)[n]; });
  }
}

TEST_P(TransposeRows, SumsHaveTheSameBitsWithAnyThreadsAndOnEveryLevel) {
  const Rows x = Rows::random(1, 300, 390);
  const auto sums_of = [&](const KernelSet& with, const Parallel& parallel) {
    std::vector<float> sums(390);
    TransposeRowsParams p{};
    p.x_TN = x.row(0);
    p.x_stride = x.stride;
    p.rows = 300;
    p.columns = 390;
    p.sums_N = sums.data();
    p.parallel = parallel;
    transpose_rows(with, p);
    return sums;
  };
  const std::vector<float> expected = sums_of(select_kernels("reference"), serial());
  for (const unsigned threads : {1u, 2u, 3u}) {
    ThreadPool pool(threads);
    EXPECT_EQ(sums_of(kernels(), pool.parallel()), expected) << threads << " threads";
  }
}

TEST(TransposeRowsArguments, AreChecked) {
  const KernelSet kernels = select_kernels("auto");
  float x[6] = {}, y[6];
  Bf16 halves[8];
  TransposeRowsParams p{};
  p.x_TN = x;
  p.rows = 3;
  p.columns = 2;
  EXPECT_ERROR(transpose_rows(kernels, p), kInternal, "a null pointer");
  p.y_NT = y;
  p.x_stride = 1;
  EXPECT_ERROR(transpose_rows(kernels, p), kInternal, "rows of x overlap");
  p.x_stride = 0;
  p.y_stride = 2;
  EXPECT_ERROR(transpose_rows(kernels, p), kInternal, "rows of y overlap");
  p.y_bf16_NT = halves;
  EXPECT_ERROR(transpose_rows(kernels, p), kInternal, "two outputs");
  p.y_NT = nullptr;
  p.y_stride = 3;
  EXPECT_ERROR(transpose_rows(kernels, p), kInternal, "rows of y overlap");
  p.y_stride = 0;
  EXPECT_NO_THROW(transpose_rows(kernels, p));
}

struct LinearShape {
  size_t rows, outputs, inputs;
};

// One linear layer with dY, in a precision: the operands as they lie in memory, and as the products read them.
struct LinearCase {
  LinearShape s;
  Precision precision;
  Rows dy, x, dx;
  std::vector<float> w, dw, db;
  Arena arena, packed_arena;

  LinearCase(Precision in, LinearShape shape)
      : s(shape),
        precision(in),
        dy(Rows::random(1, s.rows, s.outputs)),
        x(Rows::random(2, s.rows, s.inputs)),
        dx(s.rows, s.inputs, kGuard),
        w(test::normals(3, s.outputs * s.inputs)),
        dw(s.outputs * s.inputs + 2, kGuard),
        db(s.outputs + 2, kGuard) {}

  LinearGradientParams params() {
    LinearGradientParams p{};
    p.precision = precision;
    p.dy_TN = dy.row(0);
    p.dy_stride = dy.stride;
    p.x_TK = x.row(0);
    p.x_stride = x.stride;
    p.rows = s.rows;
    p.outputs = s.outputs;
    p.inputs = s.inputs;
    p.dx_TK = dx.row(0);
    p.dx_stride = dx.stride;
    p.dw_NK = dw.data() + 1;
    p.db_N = db.data() + 1;
    return p;
  }
  PackedWeights pack(const KernelSet& kernels) {
    const WeightSource source = transposed_weight(w.data(), s.outputs, s.inputs);
    packed_arena.reserve(gemm_packed_bytes(kernels, precision, source));
    auto* memory = packed_arena.take<std::byte>(gemm_packed_bytes(kernels, precision, source));
    return gemm_pack(kernels, precision, source, memory);
  }
  void run(const KernelSet& kernels, LinearGradientParams p) {
    const PackedWeights packed = pack(kernels);
    if (p.dx_TK != nullptr) p.packed_w = &packed;
    const size_t size_bytes = linear_gradient_scratch_bytes(kernels, p);
    arena.reserve(size_bytes + 64);
    auto* scratch = arena.take<std::byte>(size_bytes + 64);
    std::memset(scratch, 0xFF, size_bytes + 64);  // NaN in both precisions
    p.scratch = scratch;
    linear_gradient(kernels, p);
    for (size_t i = 0; i < 64; ++i) EXPECT_EQ(scratch[size_bytes + i], std::byte{0xFF}) << "behind the scratch";
  }
  double read(float number) const {
    return precision == Precision::kFp32 ? double{number} : double{from_bf16(to_bf16(number))};
  }
  template <class Number>
  Number dx_of(size_t t, size_t k) const {
    Number sum = 0;
    for (size_t n = 0; n < s.outputs; ++n)
      sum += static_cast<Number>(read(dy.row(t)[n])) * static_cast<Number>(read(w[n * s.inputs + k]));
    return sum;
  }
  template <class Number>
  Number dw_of(size_t n, size_t k) const {
    Number sum = 0;
    for (size_t t = 0; t < s.rows; ++t)
      sum += static_cast<Number>(read(dy.row(t)[n])) * static_cast<Number>(read(x.row(t)[k]));
    return sum;
  }
  template <class Number>
  Number db_of(size_t n) const {
    Number sum = 0;
    for (size_t t = 0; t < s.rows; ++t) sum += static_cast<Number>(dy.row(t)[n]);
    return sum;
  }
  // result(i), exact(i) and naive(i) of `count` elements: at most twice the error of the naive sum, plus 1e-5.
  template <class Result, class Exact, class Naive>
  void expect_close(const char* what, size_t count, Result result, Exact exact, Naive naive, double offset) const {
    double error = 0, naive_error = 0;
    for (size_t i = 0; i < count; ++i) {
      ASSERT_TRUE(std::isfinite(result(i)));
      error = std::max(error, std::abs(double{result(i)} - offset - exact(i)));
      naive_error = std::max(naive_error, std::abs(double{naive(i)} - exact(i)));
    }
    EXPECT_LE(error, 2 * naive_error + 1e-5) << what << " T " << s.rows << " N " << s.outputs << " K " << s.inputs;
  }
  // What was there before: `offset`.
  void expect_gradients(double offset_dx, double offset_weights) const {
    expect_close(
        "dX", s.rows * s.inputs, [&](size_t i) { return dx.row(i / s.inputs)[i % s.inputs]; },
        [&](size_t i) { return dx_of<double>(i / s.inputs, i % s.inputs); },
        [&](size_t i) { return dx_of<float>(i / s.inputs, i % s.inputs); }, offset_dx);
    expect_close(
        "dW", s.outputs * s.inputs, [&](size_t i) { return dw[1 + i]; },
        [&](size_t i) { return dw_of<double>(i / s.inputs, i % s.inputs); },
        [&](size_t i) { return dw_of<float>(i / s.inputs, i % s.inputs); }, offset_weights);
    expect_close(
        "db", s.outputs, [&](size_t i) { return db[1 + i]; }, [&](size_t i) { return db_of<double>(i); },
        [&](size_t i) { return db_of<float>(i); }, offset_weights);
    EXPECT_TRUE(dx.has_guards());
    EXPECT_TRUE(dw.front() == kGuard && dw.back() == kGuard && db.front() == kGuard && db.back() == kGuard);
  }
};

class LinearGradient : public testing::TestWithParam<Implementation> {
 protected:
  KernelSet kernels() const { return GetParam().kernels(); }
  LinearCase make(LinearShape shape) const { return LinearCase(GetParam().precision, shape); }
};
INSTANTIATE_TEST_SUITE_P(All, LinearGradient,
                         testing::ValuesIn(test::implementations(Operation::kGemm,
                                                                 {Precision::kFp32, Precision::kBf16})),
                         test::kNameOfImplementation);

TEST_P(LinearGradient, FollowsTheEquationsForAllShapes) {
  for (const LinearShape& shape : {LinearShape{1, 1, 1},
                                   {1, 70, 33},
                                   {2, 3, 5},
                                   {37, 64, 65},
                                   {64, 17, 130},
                                   {96, 130, 31},
                                   {97, 33, 64},
                                   {1023, 7, 9},
                                   {1024, 5, 17},
                                   {1025, 17, 6},
                                   {2049, 3, 20}}) {
    LinearCase c = make(shape);
    c.run(kernels(), c.params());
    c.expect_gradients(0, 0);
  }
}

// Rows of x that were rounded before lie further apart.
TEST_P(LinearGradient, TakesRowsThatWereRoundedBefore) {
  if (GetParam().precision != Precision::kBf16) return;
  for (const LinearShape& shape : {LinearShape{1, 2, 3}, {37, 64, 65}, {1025, 17, 6}}) {
    LinearCase c = make(shape);
    c.run(kernels(), c.params());
    const std::vector<float> dw = c.dw, db = c.db, dx = c.dx.memory;
    std::vector<Bf16> rounded(shape.rows * (shape.inputs + 5), 0xFFFF);
    for (size_t t = 0; t < shape.rows; ++t) {
      for (size_t k = 0; k < shape.inputs; ++k) rounded[t * (shape.inputs + 5) + k] = to_bf16(c.x.row(t)[k]);
    }
    LinearGradientParams p = c.params();
    p.x_TK = nullptr;
    p.x_bf16_TK = rounded.data();
    p.x_stride = shape.inputs + 5;
    c.run(kernels(), p);
    EXPECT_TRUE(c.dw == dw && c.db == db && c.dx.memory == dx) << shape.rows;
    p.x_TK = c.x.row(0);
    EXPECT_ERROR(c.run(kernels(), p), kInternal, "two x");
  }
}

TEST_P(LinearGradient, AddsToWhatIsThere) {
  LinearCase c = make({1030, 6, 35});
  for (size_t t = 0; t < c.s.rows; ++t) std::fill_n(c.dx.row(t), c.s.inputs, 2.0f);
  std::fill(c.dw.begin() + 1, c.dw.end() - 1, 0.5f);
  std::fill(c.db.begin() + 1, c.db.end() - 1, 0.5f);
  LinearGradientParams p = c.params();
  p.adds_dx = p.adds_weights = true;
  c.run(kernels(), p);
  c.expect_gradients(2, 0.5);
}

TEST_P(LinearGradient, EachIsOptionalAndHasTheSameBitsAlone) {
  LinearCase all = make({1100, 21, 40});
  all.run(kernels(), all.params());
  for (const size_t wanted : {size_t{0}, size_t{1}, size_t{2}}) {
    LinearCase c = make(all.s);
    LinearGradientParams p = c.params();
    if (wanted != 0) p.dx_TK = nullptr;
    if (wanted != 1) p.dw_NK = nullptr, p.x_TK = nullptr;
    if (wanted != 2) p.db_N = nullptr;
    c.run(kernels(), p);
    const auto expect_same = [&](const std::vector<float>& result, const std::vector<float>& expected, bool is_wanted) {
      EXPECT_EQ(result, is_wanted ? expected : std::vector<float>(result.size(), kGuard)) << wanted;
    };
    expect_same(c.dx.memory, all.dx.memory, wanted == 0);
    expect_same(c.dw, all.dw, wanted == 1);
    expect_same(c.db, all.db, wanted == 2);
  }
}

TEST_P(LinearGradient, HasTheSameBitsWithAnyThreadsAndARowOfDxAlone) {
  LinearCase whole = make({1500, 67, 132});
  whole.run(kernels(), whole.params());
  for (const unsigned threads : {2u, 3u}) {
    ThreadPool pool(threads);
    LinearCase c = make(whole.s);
    LinearGradientParams p = c.params();
    p.parallel = pool.parallel();
    c.run(kernels(), p);
    EXPECT_EQ(c.dx.memory, whole.dx.memory) << threads << " threads";
    EXPECT_EQ(c.dw, whole.dw) << threads << " threads";
    EXPECT_EQ(c.db, whole.db) << threads << " threads";
  }
  for (const size_t row : {size_t{0}, size_t{577}, size_t{1023}, size_t{1024}, size_t{1499}}) {
    LinearCase c = make(whole.s);
    LinearGradientParams p = c.params();
    p.dy_TN += row * p.dy_stride;
    p.rows = 1;
    p.dw_NK = p.db_N = nullptr;
    c.run(kernels(), p);
    EXPECT_EQ(std::memcmp(c.dx.row(0), whole.dx.row(row), 132 * sizeof(float)), 0) << "row " << row;
  }
}

TEST_P(LinearGradient, ANumberThatIsNoneIsNotHidden) {
  LinearCase c = make({40, 20, 30});
  c.dy.row(7)[3] = kNan;
  c.run(kernels(), c.params());
  for (size_t t = 0; t < 40; ++t) EXPECT_EQ(std::isnan(c.dx.row(t)[0]), t == 7) << t;
  for (size_t n = 0; n < 20; ++n) {
    EXPECT_EQ(std::isnan(c.dw[1 + n * 30]), n == 3) << n;
    EXPECT_EQ(std::isnan(c.db[1 + n]), n == 3) << n;
  }
}

TEST(LinearGradientArguments, AreChecked) {
  const KernelSet kernels = select_kernels("auto");
  const auto expect_refusal = [&](const char* what, void (*change)(LinearGradientParams&)) {
    LinearCase c(Precision::kFp32, {3, 4, 5});
    alignas(64) std::byte scratch[64];
    LinearGradientParams p = c.params();
    p.scratch = scratch;
    const PackedWeights packed = c.pack(kernels);
    p.packed_w = &packed;
    change(p);
    EXPECT_ERROR(linear_gradient(kernels, p), kInternal, what);
  };
  expect_refusal("int8", [](LinearGradientParams& p) { p.precision = Precision::kInt8; });
  expect_refusal("a null pointer", [](LinearGradientParams& p) { p.dy_TN = nullptr; });
  expect_refusal("a null pointer", [](LinearGradientParams& p) { p.scratch = nullptr; });
  expect_refusal("wants dx and has no w", [](LinearGradientParams& p) { p.packed_w = nullptr; });
  expect_refusal("or one of another size", [](LinearGradientParams& p) {
    static PackedWeights packed;
    packed.outputs = 4;
    packed.depth = 5;
    p.packed_w = &packed;
  });
  expect_refusal("wants dw and has no x", [](LinearGradientParams& p) { p.x_TK = nullptr; });
  expect_refusal("rows of dy overlap", [](LinearGradientParams& p) { p.dy_stride = 3; });
  expect_refusal("rows of x overlap", [](LinearGradientParams& p) { p.x_stride = 4; });
  expect_refusal("rows of dx overlap", [](LinearGradientParams& p) { p.dx_stride = 4; });
}

TEST(LinearGradientArguments, WithoutRowsGradientsAreZerosOrStay) {
  for (const bool adds : {false, true}) {
    std::vector<float> dw(6, 3.0f), db(2, 3.0f);
    LinearGradientParams p{};
    p.outputs = 2;
    p.inputs = 3;
    p.dw_NK = dw.data();
    p.db_N = db.data();
    p.adds_weights = adds;
    linear_gradient(select_kernels("auto"), p);
    for (const float gradient : dw) EXPECT_EQ(gradient, adds ? 3 : 0);
    for (const float gradient : db) EXPECT_EQ(gradient, adds ? 3 : 0);
  }
}

}  // namespace
}  // namespace deberta::linear_gradient_test
