// Every implementation of attention's gradient against sums in double.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernels/attention_gradient_naive.h"
#include "kernels/attention_naive.h"
#include "support/implementations.h"
#include "support/sanitizers.h"

namespace deberta::attention_backward_accuracy_test {
namespace {

using test::all_of;
using test::AttentionGradientCase;
using test::GradientsOf;
using test::make_case;
using Shape = test::GradientShape;

struct Buckets {
  int64_t buckets, max_relative;
};
constexpr Buckets kBuckets[] = {{4, 9}, {8, 16}, {256, 512}, {-1, 6}};

std::vector<Shape> shapes() {
  std::vector<Shape> shapes;
  for (const int32_t length : {1, 2, 15, 16, 17, 31, 33, 47, 48, 49, 63, 65, 96, 97, 129, 257})
    shapes.push_back({.lengths = {length}});
  for (const int32_t length : {511, 513, 600}) shapes.push_back({.lengths = {length}, .head_size = 16});
  shapes.push_back({.lengths = {600}, .head_size = 16, .clamps_distance = false});
  shapes.push_back({.lengths = {600}, .head_size = 16, .buckets = -1, .max_relative = 512});
  for (const size_t head_size : {16u, 32u, 48u, 80u, 96u, 128u})
    shapes.push_back({.lengths = {3, 90, 49}, .heads = 2, .head_size = head_size, .buckets = 32, .max_relative = 64});
  for (const Buckets& b : kBuckets) {
    for (const int terms : {0, 1, 2, 3}) {
      Shape s{.lengths = {70, 5}, .heads = 2, .head_size = 16, .buckets = b.buckets, .max_relative = b.max_relative};
      s.has_c2p = (terms & 1) != 0;
      s.has_p2c = (terms & 2) != 0;
      shapes.push_back(s);
      s.lengths = {130};
      s.dropped = 0.1;
      s.has_holes = terms != 3;
      shapes.push_back(s);
      s.is_causal = true;
      shapes.push_back(s);
      s.is_causal = terms == 3;
      s.positions = {0, 7, 16, 17, 18, 19, 20, 31, 33, 64, 65, 100, 129};
      shapes.push_back(s);
    }
  }
  shapes.push_back({.lengths = {300}, .head_size = 16, .is_causal = true});
  shapes.push_back({.lengths = {600}, .head_size = 16, .dropped = 0.3, .is_causal = true});
  shapes.push_back({.lengths = {600}, .head_size = 16, .positions = {0, 1, 2, 298, 299, 299, 299, 300, 301, 599}});
  // The plain sums of long texts take a sanitizer a minute; two long texts are left to it below.
  if (test::kSanitized) std::erase_if(shapes, [](const Shape& s) { return s.lengths[0] > 257; });
  return shapes;
}

// Elements of the tables' rows that all far distances share, and the others; of any other gradient all.
std::vector<double> part(const std::vector<double>& x, const AttentionGradientCase& c, size_t gradient, bool is_far) {
  if (gradient < 3) return is_far ? std::vector<double>{} : x;
  std::vector<double> kept;
  for (size_t at = 0; at < x.size(); ++at) {
    const auto row = static_cast<int32_t>(at / c.width());
    const bool is_end = row == c.lut->row(c.lut->t_lo()) || row == c.lut->row(c.lut->t_hi());
    if (is_end == is_far) kept.push_back(x[at]);
  }
  return kept;
}

double relative_l2(const std::vector<double>& got, const std::vector<double>& expected) {
  double difference = 0, size = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    difference += (got[i] - expected[i]) * (got[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  return size == 0 ? std::sqrt(difference) : std::sqrt(difference / size);
}

// Beyond what plain sums err, and relative to the whole of a gradient.
struct Tolerance {
  double beyond, relative;
};
Tolerance tolerance_of(Precision precision) {
  return precision == Precision::kFp32 ? Tolerance{1e-6, 1e-5} : Tolerance{1e-5, 1e-2};
}

void expect_small_errors(Shape shape, Precision precision) {
  shape.precision = precision;
  const Tolerance tolerance = tolerance_of(precision);
  AttentionGradientCase c = make_case(shape);
  const GradientsOf<double> exact = test::plain_gradients<double>(c), naive = test::plain_gradients<float>(c);
  for (const KernelLevel level : test::levels_of(Operation::kAttentionBackward, precision)) {
    c.kernels = to_string(level);
    c.run_backward();
    const GradientsOf<double> got = c.dense_results();
    for (size_t n = 0; n < 5; ++n) {
      for (const bool is_far : {false, true}) {
        const auto expected = part(*all_of(exact)[n], c, n, is_far), ours = part(*all_of(got)[n], c, n, is_far);
        const double allowed = 2 * test::largest_difference(part(*all_of(naive)[n], c, n, is_far), expected);
        const std::string where = std::string(to_string(precision)) + " " + std::string(to_string(level)) + ", " +
                                  test::kGradientNames[n] + (is_far ? " of the last rows: " : ": ") + shape.name();
        EXPECT_LE(test::largest_difference(ours, expected), allowed + tolerance.beyond) << where;
        if (c.tokens() > 1) {
          EXPECT_LT(relative_l2(ours, expected), tolerance.relative) << where;
        }
      }
    }
    EXPECT_TRUE(c.has_gradient_guards()) << to_string(level) << ", " << shape.name();
  }
}

class AttentionBackwardAccuracy : public testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(Precision, AttentionBackwardAccuracy, testing::Values(Precision::kFp32, Precision::kBf16),
                         [](const auto& of) { return std::string(to_string(of.param)); });

TEST_P(AttentionBackwardAccuracy, IsAtMostTwiceAsFarFromExactAsPlainSums) {
  for (const Shape& shape : shapes()) expect_small_errors(shape, GetParam());
}

// Sums of a million terms.
TEST_P(AttentionBackwardAccuracy, TheRowsOfAllFarDistancesAreSummedAsWell) {
  expect_small_errors({.lengths = {test::kSanitized ? 700 : 2048}, .head_size = 16}, GetParam());
  expect_small_errors({.lengths = {test::kSanitized ? 600 : 1100}, .head_size = 16, .clamps_distance = false},
                      GetParam());
}

}  // namespace
}  // namespace deberta::attention_backward_accuracy_test
