// Divergences of logits and their gradients, which do not pass through the probabilities compared with.
#include "train/objectives/divergence.h"

#include <gtest/gtest.h>

#include "support/torch_numbers.h"
#include "train/objectives/groups.h"

namespace deberta::train::divergence_test {
namespace {

using namespace test;
using Over = Comparison::Over;

struct Pair {
  at::Tensor changed_NC = normal_tensor(1, {5, 2}).requires_grad_(true);
  at::Tensor clean_NC = normal_tensor(2, {5, 2}).requires_grad_(true);
};

at::Tensor probabilities(const at::Tensor& logits_NC, const Comparison& comparison) {
  const at::Tensor fixed_NC = logits_NC.detach();
  if (comparison.over == Over::kLabels) return fixed_NC.sigmoid();
  if (comparison.over == Over::kClasses) return fixed_NC.softmax(1);
  return log_softmax_groups(fixed_NC, comparison.groups).exp();
}

const Comparison kComparisons[] = {{.over = Over::kClasses, .weights_N = {1, 2, 0, 1, 1}},
                                   {.over = Over::kGroups, .groups = {0, 2, 5}, .weights_N = {1, 1, 1, 1, 1}},
                                   {.over = Over::kLabels, .weights_N = {1, 2, 0, 1, 1}}};

at::Tensor weights(const Comparison& comparison) {
  at::Tensor weights_N1 = at::empty({5, 1}, at::kDouble);
  std::ranges::copy(comparison.weights_N, weights_N1.data_ptr<double>());
  return weights_N1;
}

// Holds for softmax and for sigmoid: the gradient of CE(p, q) for the logits of q is q - p.
TEST(Divergence, SymmetricKlMovesBothLogitsTowardsEachOther) {
  for (const Comparison& comparison : kComparisons) {
    Pair pair;
    divergence(DivergenceKind::kSymmetricKl, pair.changed_NC, pair.clean_NC, comparison).backward();
    const at::Tensor apart_NC =
        (probabilities(pair.changed_NC, comparison) - probabilities(pair.clean_NC, comparison)) * weights(comparison);
    EXPECT_LE(worst_difference(pair.changed_NC.grad(), apart_NC), 1e-12);
    EXPECT_LE(worst_difference(pair.clean_NC.grad(), -apart_NC), 1e-12);
  }
}

TEST(Divergence, KlMovesTheChangedLogitsAlone) {
  for (const Comparison& comparison : kComparisons) {
    Pair pair;
    divergence(DivergenceKind::kKl, pair.changed_NC, pair.clean_NC, comparison).backward();
    EXPECT_FALSE(pair.clean_NC.grad().defined());
    const at::Tensor apart_NC =
        (probabilities(pair.changed_NC, comparison) - probabilities(pair.clean_NC, comparison)) * weights(comparison);
    EXPECT_LE(worst_difference(pair.changed_NC.grad(), apart_NC), 1e-12);
  }
}

TEST(Divergence, SquaredIsOfLogits) {
  for (const Comparison& comparison : kComparisons) {
    const Pair pair;
    const at::Tensor expected = ((pair.changed_NC - pair.clean_NC).square() * weights(comparison)).sum();
    EXPECT_LE(
        worst_difference(divergence(DivergenceKind::kSquared, pair.changed_NC, pair.clean_NC, comparison), expected),
        1e-12);
  }
}

// Even where the loss asks for another divergence.
TEST(Divergence, OfScoresIsSquared) {
  const Pair pair;
  const at::Tensor changed_N1 = pair.changed_NC.slice(1, 0, 1), clean_N1 = pair.clean_NC.slice(1, 0, 1);
  const Comparison comparison{.over = Over::kScores, .weights_N = {1, 1, 1, 1, 1}};
  const at::Tensor expected = (changed_N1 - clean_N1).square().sum();
  for (const DivergenceKind kind : {DivergenceKind::kSymmetricKl, DivergenceKind::kKl}) {
    EXPECT_LE(worst_difference(divergence(kind, changed_N1, clean_N1, comparison), expected), 1e-12);
  }
}

// The published code has one score; of several it is the mean.
TEST(Divergence, OfSeveralScoresIsOriginallyTheMeanOfEach) {
  const Pair pair;
  const auto original = [](const at::Tensor& changed_NC, const at::Tensor& clean_NC) {
    const Comparison comparison = compare_originally({clean_NC}, {}, {.loss = TaskLoss::kScore}, 5);
    return comparison.factor *
           divergence(DivergenceKind::kSymmetricKl, changed_NC, clean_NC, comparison).item<double>();
  };
  double sum = 0;
  for (int64_t c = 0; c < 2; ++c) sum += original(pair.changed_NC.slice(1, c, c + 1), pair.clean_NC.slice(1, c, c + 1));
  EXPECT_NEAR(original(pair.changed_NC, pair.clean_NC), sum / 2, 1e-12);
}

}  // namespace
}  // namespace deberta::train::divergence_test
