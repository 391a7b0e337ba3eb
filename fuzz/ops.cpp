// Random shapes and lengths: the fastest path of each operation against sums in double, with the bound of
// docs/concepts/kernels.md: at most twice the error of a plain fp32 sum, plus 1e-5. The bytes choose sizes, switches
// and the seed of the numbers.
#include <algorithm>
#include <cmath>

#include "fuzz.h"
#include "kernels/attention_case.h"
#include "kernels/attention_gradient_case.h"
#include "kernels/attention_gradient_naive.h"
#include "kernels/convolution.h"
#include "kernels/gemm.h"

namespace deberta::fuzz {
namespace {

void try_gemm(Cutter& cut) {
  const size_t m = cut.number(1, 20), n = cut.number(1, 150), k = cut.number(1, 200), seed = cut.byte();
  const KernelSet kernels = select_kernels("auto");
  const auto a = test::normals(seed, m * k), w = test::normals(seed + 1, n * k);
  Arena arena;
  const WeightSource source{w.data(), n, k};
  const size_t size_bytes = gemm_packed_bytes(kernels, Precision::kFp32, source);
  arena.reserve(Arena::bytes_for<std::byte>(size_bytes));
  std::vector<float> c(m * n);
  GemmParams p{};
  p.a_MK = a.data();
  p.rows = m;
  p.weights = gemm_pack(kernels, Precision::kFp32, source, arena.take<std::byte>(size_bytes));
  p.c_MN = c.data();
  gemm(kernels, p);
  double error = 0, naive_error = 0;
  for (size_t at = 0; at < c.size(); ++at) {
    double exact = 0;
    float naive = 0;
    for (size_t i = 0; i < k; ++i) {
      exact += double{a[at / n * k + i]} * double{w[at % n * k + i]};
      naive += a[at / n * k + i] * w[at % n * k + i];
    }
    FUZZ_REQUIRE(std::isfinite(c[at]));
    error = std::max(error, std::abs(double{c[at]} - exact));
    naive_error = std::max(naive_error, std::abs(double{naive} - exact));
  }
  FUZZ_REQUIRE(error <= 2 * naive_error + 1e-5);
}

// Scores stay below 64 in absolute value here, so a plain fp32 score is wrong by at most K x 64 x 2^-24, a probability
// by twice that relative to itself, and the result by that relative to the largest value.
void choose_attention(Cutter& cut, test::AttentionCase& problem) {
  problem.lengths.clear();
  for (size_t b = cut.number(1, 3); b > 0; --b) problem.lengths.push_back(static_cast<int32_t>(cut.number(1, 40)));
  constexpr size_t kSizes[] = {8, 16, 24, 32, 64};
  problem.heads = cut.number(1, 2);
  problem.head_size = kSizes[cut.byte() % std::size(kSizes)];
  problem.buckets = cut.byte() % 2 == 0 ? -1 : static_cast<int64_t>(2 * cut.number(2, 12));
  problem.max_relative = problem.buckets > 0 ? 2 * problem.buckets : static_cast<int64_t>(cut.number(4, 45));
  const uint8_t choice = cut.byte();
  problem.has_c2p = (choice & 1) != 0;
  problem.has_p2c = (choice & 2) != 0;
  problem.is_causal = (choice & 8) != 0;
  problem.scale = 1 / std::sqrt(3 * static_cast<double>(problem.head_size));
  problem.fill();
  if ((choice & 4) == 0) return;
  for (size_t t = 0; t < problem.tokens(); ++t) problem.mask.push_back(cut.byte() % 4 != 0);
}

void try_attention(Cutter& cut) {
  test::AttentionCase problem;
  choose_attention(cut, problem);
  problem.run();
  FUZZ_REQUIRE(problem.has_guards());
  FUZZ_REQUIRE(problem.largest_difference() <= 2 * 2 * 5 * static_cast<double>(problem.head_size) * 64 * 6e-8 + 1e-5);
}

// Gradients are sums of at most 40 x 3 terms, each with the relative error of a probability and of a product.
void try_attention_backward(Cutter& cut) {
  test::AttentionGradientCase problem;
  choose_attention(cut, problem);
  problem.dout = test::normals(cut.byte(), problem.q.size());
  if (problem.tokens() % 2 == 0) problem.dropout = {.p = 0.25, .seed = problem.tokens()};
  problem.run_backward();
  FUZZ_REQUIRE(problem.has_gradient_guards());
  const auto expected = test::plain_gradients<double>(problem), got = problem.dense_results();
  for (size_t n = 0; n < 5; ++n) {
    const std::vector<double>&wanted = *test::all_of(expected)[n], &numbers = *test::all_of(got)[n];
    double largest = 0;
    for (const double x : wanted) largest = std::max(largest, std::abs(x));
    for (size_t i = 0; i < wanted.size(); ++i)
      FUZZ_REQUIRE(std::abs(numbers[i] - wanted[i]) <= 1e-4 * std::max(1.0, largest));
  }
}

void try_convolution(Cutter& cut) {
  const int32_t starts[] = {0, static_cast<int32_t>(cut.number(1, 40)), 80};
  const size_t width = 2 * cut.number(0, 3) + 1, groups = cut.number(1, 3), columns = groups * cut.number(1, 24);
  const auto x = test::normals(1, 80 * columns), weight = test::normals(2, columns * columns / groups * width),
             bias = test::normals(3, columns);
  std::vector<float> fast(80 * columns), slow(fast);
  ConvolutionParams p{};
  p.x_TD = x.data();
  p.starts = starts;
  p.sequences = 2;
  p.shape = {columns, width, groups};
  p.weight_DGW = weight.data();
  p.bias_D = bias.data();
  p.y_TD = fast.data();
  const KernelSet kernels = select_kernels("auto");
  Arena arena;
  arena.reserve(Arena::bytes_for<std::byte>(convolution_packed_bytes(kernels, p.shape)));
  const std::vector<PackedWeights> packed = convolution_pack(
      kernels, p.shape, weight.data(), arena.take<std::byte>(convolution_packed_bytes(kernels, p.shape)));
  std::vector<float> scratch(convolution_scratch_count(kernels, p.shape, 80, 1));
  p.packed_G = packed.data();
  p.scratch = scratch.data();
  convolution(kernels, p);
  p.y_TD = slow.data();
  convolution(select_kernels("reference"), p);
  const double products = static_cast<double>(columns / groups * width);
  for (size_t i = 0; i < fast.size(); ++i)
    FUZZ_REQUIRE(std::abs(double{fast[i]} - double{slow[i]}) <= 2 * products * 5 * 6e-8 + 1e-5);
}

}  // namespace

void run(Bytes input) {
  Cutter cut(input);
  constexpr void (*kTries[])(Cutter&) = {try_gemm, try_attention, try_convolution, try_attention_backward};
  kTries[cut.byte() % std::size(kTries)](cut);
}

}  // namespace deberta::fuzz
