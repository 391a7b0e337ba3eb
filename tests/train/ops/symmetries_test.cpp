// What the equation of disentangled attention leaves unchanged, in outputs and in gradients: composed in double, and by
// the kernels.
// N query rows  T rows of keys  D hidden  R relative rows
#include <ATen/TensorOperators.h>
#include <ATen/ops/cat.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "support/torch_numbers.h"
#include "train/ops/attention.h"

namespace deberta::train::symmetries_test {
namespace {

using namespace test;

struct Program {
  std::string name;
  Compute compute;
  at::ScalarType type;
  double tolerance;  // absolute for an output; for a gradient relative to the largest one
};

std::vector<Program> programs() {
  return {{"composed", {.kernels = select_kernels("reference")}, at::kDouble, 1e-12},
          {"reference", {.kernels = select_kernels("reference")}, at::kFloat, 5e-6},
          {"fast", {.kernels = select_kernels("auto")}, at::kFloat, 5e-6}};
}

// Odd lengths, one beyond the farthest distance of the table, 128.
const std::vector<int64_t> kLengths = {131, 1, 37, 3};
constexpr int64_t kTokens = 172, kHeads = 2, kHidden = 64, kRows = 64;

std::vector<int32_t> starts_of(const std::vector<int64_t>& lengths) {
  std::vector<int32_t> starts = {0};
  for (const int64_t length : lengths) starts.push_back(starts.back() + static_cast<int32_t>(length));
  return starts;
}

enum class Terms { kC2p, kP2c, kBoth };

struct Problem {
  std::vector<int64_t> lengths = kLengths;
  at::Tensor q_TD, k_TD, v_TD, kr_RD, qr_RD, dout_TD;
  std::vector<uint8_t> mask_T = {};
};

Problem make_problem(Terms terms, at::ScalarType type) {
  Problem problem;
  uint64_t seed = 0;
  for (at::Tensor* x : {&problem.q_TD, &problem.k_TD, &problem.v_TD, &problem.dout_TD}) {
    *x = normal_tensor(++seed, {kTokens, kHidden}, type);
  }
  if (terms != Terms::kP2c) problem.kr_RD = normal_tensor(++seed, {kRows, kHidden}, type);
  if (terms != Terms::kC2p) problem.qr_RD = normal_tensor(++seed, {kRows, kHidden}, type);
  for (int64_t t = 0; t < kTokens; ++t) problem.mask_T.push_back(t % 5 != 3);
  return problem;
}

struct Answer {
  at::Tensor out_TD, dq_TD, dk_TD, dv_TD, dkr_RD, dqr_RD;  // undefined for a term that is not there
};

Answer solve(const Program& program, const Problem& problem) {
  AttentionInputs in;
  in.q_ND = problem.q_TD.clone().requires_grad_(true);
  in.k_TD = problem.k_TD.clone().requires_grad_(true);
  in.v_TD = problem.v_TD.clone().requires_grad_(true);
  if (problem.kr_RD.defined()) in.kr_RD = problem.kr_RD.clone().requires_grad_(true);
  if (problem.qr_RD.defined()) in.qr_RD = problem.qr_RD.clone().requires_grad_(true);
  in.queries = in.keys = std::make_shared<Rows>(Rows{starts_of(problem.lengths), {}, problem.mask_T});
  in.lut = std::make_shared<RelLut>(
      RelLutParams{.position_buckets = kRows / 2, .max_relative_positions = 128, .max_length = kTokens});
  in.heads = kHeads;
  in.scale = 0.1;
  const at::Tensor out_TD = attention(program.compute, in);
  (out_TD * problem.dout_TD).sum().backward();
  const auto gradient = [](const at::Tensor& x) { return x.defined() ? x.grad() : at::Tensor(); };
  return {out_TD.detach(),   gradient(in.q_ND),  gradient(in.k_TD),
          gradient(in.v_TD), gradient(in.kr_RD), gradient(in.qr_RD)};
}

double error_of(const at::Tensor& expected, const at::Tensor& got) {
  return worst_difference(expected, got) / std::max(1.0, expected.abs().max().item<double>());
}

at::Tensor constant_row(const at::Tensor& like) {
  return normal_tensor(20, {1, kHidden}).to(like.scalar_type());
}

// It shifts all scores of a query alike.
TEST(AttentionSymmetries, AConstantAddedToKrChangesNothing) {
  for (const Program& program : programs()) {
    for (const Terms terms : {Terms::kC2p, Terms::kBoth}) {
      Problem problem = make_problem(terms, program.type);
      const Answer before = solve(program, problem);
      problem.kr_RD = problem.kr_RD + constant_row(problem.kr_RD);
      const Answer after = solve(program, problem);
      EXPECT_LE(error_of(before.out_TD, after.out_TD), program.tolerance) << program.name;
      EXPECT_LE(error_of(before.dq_TD, after.dq_TD), program.tolerance) << program.name;
      EXPECT_LE(error_of(before.dk_TD, after.dk_TD), program.tolerance) << program.name;
      EXPECT_LE(error_of(before.dkr_RD, after.dkr_RD), program.tolerance) << program.name;
      const double moves = before.dkr_RD.sum(0).abs().max().item<double>();
      EXPECT_LE(moves, program.tolerance * before.dkr_RD.abs().sum(0).max().item<double>()) << program.name;
    }
  }
}

// Both add c . k_j to the score of i and j.
TEST(AttentionSymmetries, AConstantAddedToQrIsOneAddedToEveryQueryOfTheContent) {
  for (const Program& program : programs()) {
    Problem by_table = make_problem(Terms::kP2c, program.type), by_query = by_table;
    by_table.qr_RD = by_table.qr_RD + constant_row(by_table.qr_RD);
    by_query.q_TD = by_query.q_TD + constant_row(by_query.q_TD);
    const Answer table = solve(program, by_table), query = solve(program, by_query);
    EXPECT_LE(error_of(table.out_TD, query.out_TD), program.tolerance) << program.name;
    EXPECT_LE(error_of(table.dk_TD, query.dk_TD), program.tolerance) << program.name;
    EXPECT_LE(error_of(table.dqr_RD, query.dqr_RD), program.tolerance) << program.name;
    EXPECT_LE(error_of(table.dq_TD.sum(0), table.dqr_RD.sum(0)), program.tolerance) << program.name;
  }
}

// Row t becomes row R - t; row 0 is that of no distance.
at::Tensor reversed_table(const at::Tensor& table_RD) {
  if (!table_RD.defined()) return {};
  return at::cat({table_RD.narrow(0, 0, 1), table_RD.narrow(0, 1, kRows - 1).flip(0)}, 0);
}

at::Tensor reversed_sequences(const at::Tensor& x_TD) {
  std::vector<at::Tensor> parts;
  int64_t begin = 0;
  for (const int64_t length : kLengths) {
    parts.push_back(x_TD.narrow(0, begin, length).flip(0));
    begin += length;
  }
  return at::cat(parts, 0);
}

Problem reversed(const Problem& problem) {
  Problem result = problem;
  for (at::Tensor* x : {&result.q_TD, &result.k_TD, &result.v_TD, &result.dout_TD}) *x = reversed_sequences(*x);
  result.kr_RD = reversed_table(problem.kr_RD);
  result.qr_RD = reversed_table(problem.qr_RD);
  const std::vector<int32_t> starts = starts_of(kLengths);
  for (size_t b = 0; b < kLengths.size(); ++b) {
    std::reverse(result.mask_T.begin() + starts[b], result.mask_T.begin() + starts[b + 1]);
  }
  return result;
}

TEST(AttentionSymmetries, ReversedSequencesAndTablesReverseTheAnswer) {
  for (const Program& program : programs()) {
    for (const Terms terms : {Terms::kC2p, Terms::kP2c, Terms::kBoth}) {
      const Problem problem = make_problem(terms, program.type);
      const Answer forward = solve(program, problem), backward = solve(program, reversed(problem));
      EXPECT_LE(error_of(reversed_sequences(forward.out_TD), backward.out_TD), program.tolerance) << program.name;
      EXPECT_LE(error_of(reversed_sequences(forward.dq_TD), backward.dq_TD), program.tolerance) << program.name;
      EXPECT_LE(error_of(reversed_sequences(forward.dk_TD), backward.dk_TD), program.tolerance) << program.name;
      EXPECT_LE(error_of(reversed_sequences(forward.dv_TD), backward.dv_TD), program.tolerance) << program.name;
      for (const auto& [before, after] :
           {std::pair{forward.dkr_RD, backward.dkr_RD}, std::pair{forward.dqr_RD, backward.dqr_RD}}) {
        if (!before.defined()) continue;
        EXPECT_EQ(before[0].abs().max().item<double>(), 0) << program.name << ": no distance has row 0";
        EXPECT_LE(error_of(reversed_table(before), after), program.tolerance) << program.name;
      }
    }
  }
}

// The rows of each sequence, in another order of sequences.
at::Tensor permuted(const at::Tensor& x_TD, const std::vector<size_t>& order) {
  const std::vector<int32_t> starts = starts_of(kLengths);
  std::vector<at::Tensor> parts;
  for (const size_t b : order) parts.push_back(x_TD.narrow(0, starts[b], kLengths[b]));
  return at::cat(parts, 0);
}

// Bit for bit; sums over the pack, those of the tables, are taken in another order.
TEST(AttentionSymmetries, PermutedSequencesPermuteTheAnswer) {
  const std::vector<size_t> order = {2, 0, 3, 1};
  for (const Program& program : programs()) {
    Problem problem = make_problem(Terms::kBoth, program.type), other = problem;
    problem.mask_T.clear();
    other.mask_T.clear();
    other.lengths.clear();
    for (const size_t b : order) other.lengths.push_back(kLengths[b]);
    for (at::Tensor* x : {&other.q_TD, &other.k_TD, &other.v_TD, &other.dout_TD}) *x = permuted(*x, order);
    const Answer expected = solve(program, problem), got = solve(program, other);
    EXPECT_TRUE(got.out_TD.equal(permuted(expected.out_TD, order))) << program.name;
    EXPECT_TRUE(got.dq_TD.equal(permuted(expected.dq_TD, order))) << program.name;
    EXPECT_TRUE(got.dk_TD.equal(permuted(expected.dk_TD, order))) << program.name;
    EXPECT_TRUE(got.dv_TD.equal(permuted(expected.dv_TD, order))) << program.name;
    EXPECT_LE(error_of(expected.dkr_RD, got.dkr_RD), program.tolerance) << program.name;
    EXPECT_LE(error_of(expected.dqr_RD, got.dqr_RD), program.tolerance) << program.name;
  }
}

}  // namespace
}  // namespace deberta::train::symmetries_test
