// Every implementation of attention, in every precision, against sums in double, over one table of cases.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "kernels/attention_case.h"
#include "kernels/attention_naive.h"
#include "support/implementations.h"

namespace deberta::attention_accuracy_test {
namespace {

using test::AttentionCase;

using Kernel = test::Implementation;

std::vector<Kernel> kernels_of(Precision precision) {
  return test::vector_implementations(Operation::kAttention, {precision});
}

struct Shape {
  std::vector<int32_t> lengths;
  size_t heads = 1, head_size = 64;
  int64_t buckets = 256, max_relative = 512;
  bool clamps_distance = true, has_c2p = true, has_p2c = true;
  bool is_causal = false;
  double dropped = 0;
};

std::vector<Shape> shapes() {
  std::vector<Shape> shapes;
  for (const int32_t length : {1, 2, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 257})
    shapes.push_back({.lengths = {length}});
  for (const int32_t length : {511, 512, 513, 514, 777}) shapes.push_back({.lengths = {length}, .head_size = 32});
  shapes.push_back({.lengths = {2048}, .head_size = 32});
  shapes.push_back({.lengths = {600}, .head_size = 32, .clamps_distance = false});
  shapes.push_back({.lengths = {1100}, .head_size = 32, .buckets = -1});
  for (const size_t head_size : {32u, 64u, 128u}) {
    shapes.push_back({.lengths = {3, 90, 49}, .heads = 3, .head_size = head_size, .buckets = 32, .max_relative = 64});
    shapes.push_back({.lengths = {70, 5}, .heads = 2, .head_size = head_size, .buckets = 8, .max_relative = 16});
  }
  for (const int terms : {0, 1, 2}) {
    const bool has_c2p = terms == 1, has_p2c = terms == 2;
    shapes.push_back({.lengths = {150}, .head_size = 32, .has_c2p = has_c2p, .has_p2c = has_p2c});
    shapes.push_back(
        {.lengths = {40, 9}, .head_size = 32, .buckets = 4, .max_relative = 9, .has_c2p = has_c2p, .has_p2c = has_p2c});
    shapes.push_back(
        {.lengths = {150}, .head_size = 32, .buckets = -1, .max_relative = 50, .has_c2p = has_c2p, .has_p2c = has_p2c});
    shapes.push_back({.lengths = {150, 20}, .has_c2p = has_c2p, .has_p2c = has_p2c, .is_causal = true, .dropped = 0.2});
  }
  for (const int32_t length : {1, 16, 17, 48, 49, 65, 130, 300, 600}) {
    shapes.push_back({.lengths = {length}, .head_size = 32, .is_causal = true});
    shapes.push_back({.lengths = {length, 9}, .heads = 2, .head_size = 32, .dropped = 0.1});
  }
  for (const int64_t buckets : {4, 32})
    shapes.push_back({.lengths = {130, 3}, .buckets = buckets, .max_relative = 2 * buckets, .is_causal = true});
  return shapes;
}

void expect_small_errors(const Shape& shape, Precision precision) {
  AttentionCase c;
  c.lengths = shape.lengths;
  c.heads = shape.heads;
  c.head_size = shape.head_size;
  c.buckets = shape.buckets;
  c.max_relative = shape.max_relative;
  c.clamps_distance = shape.clamps_distance;
  c.has_c2p = shape.has_c2p;
  c.has_p2c = shape.has_p2c;
  c.is_causal = shape.is_causal;
  c.dropout = {.p = shape.dropped, .seed = 7, .step = 2, .layer = 3, .sequence_offset = 4};
  c.scale = 1 / std::sqrt(3.0 * double(shape.head_size));
  c.precision = precision;
  c.fill();
  c.params();  // rounds the inputs
  const std::vector<double> expected = test::exact_attention(c);
  const double naive = test::largest_difference(test::naive_attention(c), expected);
  for (const Kernel& kernel : kernels_of(precision)) {
    c.kernels = to_string(kernel.level);
    c.run();
    const std::vector<double> got(c.out.begin() + 16, c.out.end() - 16);
    EXPECT_LE(test::largest_difference(got, expected), 2 * naive + 1e-5)
        << kernel << ", length " << c.lengths[0] << ", head size " << c.head_size << ", buckets " << c.buckets
        << ", terms " << c.has_c2p << c.has_p2c << ", causal " << c.is_causal << ", dropout " << c.dropout.p;
    EXPECT_TRUE(c.has_guards()) << kernel << ", length " << c.lengths[0];
  }
}

TEST(AttentionAccuracy, Fp32IsAtMostTwiceAsFarFromExactAsPlainSums) {
  if (kernels_of(Precision::kFp32).empty()) GTEST_SKIP() << "this processor has the reference alone";
  for (const Shape& shape : shapes()) expect_small_errors(shape, Precision::kFp32);
}

AttentionCase make_large_scores(size_t head_size, int32_t length, uint64_t seed) {
  AttentionCase c;
  c.lengths = {length};
  c.head_size = head_size;
  c.seed = seed;
  c.deviation = 4.5;
  c.scale = 1 / std::sqrt(3.0 * double(head_size));
  c.fill();
  c.params();
  return c;
}

// Scores up to +-80: rounding such a score once changes its probability by 4e-6 of its value. So a single draw says
// little about a ratio; the worst of many draws, and their sum, do.
TEST(AttentionAccuracy, ScoresNear80AreAsFarFromExactAsPlainSums) {
  std::map<std::string, double> sums;
  for (const size_t head_size : {16u, 32u, 64u, 128u}) {
    for (const int32_t length : {13, 67, 200}) {
      std::map<std::string, double> worst;
      for (uint64_t seed = 0; seed < 12; ++seed) {
        AttentionCase c = make_large_scores(head_size, length, seed);
        const std::vector<double> expected = test::exact_attention(c);
        std::map<std::string, double> errors = {
            {"naive", test::largest_difference(test::naive_attention(c), expected)}};
        for (const Kernel& kernel : kernels_of(Precision::kFp32)) {
          c.kernels = to_string(kernel.level);
          c.run();
          errors[kernel.name()] = test::largest_difference({c.out.begin() + 16, c.out.end() - 16}, expected);
        }
        for (const auto& [name, error] : errors) {
          worst[name] = std::max(worst[name], error);
          sums[name] += error;
        }
      }
      for (const auto& [name, error] : worst)
        EXPECT_LE(error, 2 * worst["naive"]) << name << ", head size " << head_size << ", length " << length;
    }
  }
  for (const auto& [name, sum] : sums) EXPECT_LE(sum, 1.1 * sums["naive"]) << name;
}

TEST(AttentionAccuracy, Bf16IsAtMostTwiceAsFarFromExactAsPlainSumsOfRoundedNumbers) {
  if (kernels_of(Precision::kBf16).empty()) GTEST_SKIP() << "this processor has the reference alone";
  for (const Shape& shape : shapes()) expect_small_errors(shape, Precision::kBf16);
}

}  // namespace
}  // namespace deberta::attention_accuracy_test
