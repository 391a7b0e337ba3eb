// Losses of heads, by hand; their gradients against finite differences.
// N rows  C classes
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "support/torch_numbers.h"
#include "train/objectives/task_losses.h"

namespace deberta::train::task_losses_test {
namespace {

using namespace test;

at::Tensor logits_of(const std::vector<double>& values, int64_t columns) {
  at::Tensor logits = at::empty({static_cast<int64_t>(values.size())}, at::kDouble);
  std::copy(values.begin(), values.end(), logits.data_ptr<double>());
  return logits.view({-1, columns}).clone().requires_grad_(true);
}

TEST(ClassLoss, LeavesLabelsBelowZeroOut) {
  const at::Tensor logits = logits_of({0, std::log(3), 5, 5, 2, 1}, 2);
  const Loss loss = class_loss(logits, std::vector<int32_t>{1, -1, 1});
  EXPECT_NEAR(loss.sum.item<double>(), std::log(4.0 / 3) + std::log(1 + std::exp(1.0)), 1e-12);
  EXPECT_EQ(loss.count, 2);
  EXPECT_EQ(loss.correct, 1);
  loss.sum.backward();
  EXPECT_EQ(logits.grad()[1].abs().sum().item<double>(), 0);
}

TEST(SoftClassLoss, IsTheCrossEntropyWithADistribution) {
  const at::Tensor logits = logits_of({0, std::log(3), 0, 0}, 2);
  const Loss loss = soft_class_loss(logits, std::vector<float>{0.25f, 0.75f, 1, 0});
  EXPECT_NEAR(loss.sum.item<double>(), 0.25 * std::log(4) + 0.75 * std::log(4.0 / 3) + std::log(2), 1e-12);
  EXPECT_EQ(loss.count, 2);
  EXPECT_EQ(loss.correct, 2);
}

// The mean is that of all weights: rows 0 and 2 weigh 3 and 1.
TEST(ClassLoss, IsAMeanOverWeightsOfClasses) {
  const at::Tensor logits = logits_of({0, std::log(3), 5, 5, 0, 0}, 2);
  const Loss loss = class_loss(logits, std::vector<int32_t>{1, -1, 0}, {.weights_C = std::vector<float>{1, 3}});
  EXPECT_NEAR(loss.sum.item<double>(), 3 * std::log(4.0 / 3) + std::log(2), 1e-12);
  EXPECT_EQ(loss.divisor(), 4);
  EXPECT_EQ(loss.count, 2);
}

// Rows 0 and 2 weigh 2 and .5 beside their classes' 3 and 1; row 1 has no label.
TEST(ClassLoss, IsAMeanOverWeightsOfRowsAndClasses) {
  const at::Tensor logits = logits_of({0, std::log(3), 5, 5, 0, 0}, 2);
  const std::vector<int32_t> labels = {1, -1, 0};
  const std::vector<float> of_classes = {1, 3}, of_rows = {2, 7, 0.5f};
  const Loss both = class_loss(logits, labels, {.weights_C = of_classes, .weights_N = of_rows});
  EXPECT_NEAR(both.sum.item<double>(), 6 * std::log(4.0 / 3) + 0.5 * std::log(2), 1e-12);
  EXPECT_EQ(both.divisor(), 6.5);
  const Loss rows = class_loss(logits, labels, {.weights_N = of_rows});
  EXPECT_NEAR(rows.sum.item<double>(), 2 * std::log(4.0 / 3) + 0.5 * std::log(2), 1e-12);
  EXPECT_EQ(rows.divisor(), 2.5);
  EXPECT_EQ(rows.count, 2);
}

// Classes have no weight in the mean, as in torch with probabilities.
TEST(SoftClassLoss, IsAMeanOverWeightsOfRowsAlone) {
  const at::Tensor logits = logits_of({0, std::log(3), 0, 0}, 2);
  const std::vector<float> shares = {0.25f, 0.75f, 1, 0}, of_classes = {1, 2}, of_rows = {4, 0.5f};
  const Loss loss = soft_class_loss(logits, shares, {.weights_C = of_classes, .weights_N = of_rows});
  EXPECT_NEAR(loss.sum.item<double>(), 4 * (0.25 * std::log(4) + 2 * 0.75 * std::log(4.0 / 3)) + 0.5 * std::log(2),
              1e-12);
  EXPECT_EQ(loss.divisor(), 4.5);
  EXPECT_EQ(loss.count, 2);
}

TEST(ClassLoss, SpreadsASmoothedLabelOverAllClasses) {
  const at::Tensor logits = logits_of({0, std::log(3)}, 2);
  const Loss loss = class_loss(logits, std::vector<int32_t>{1}, {.label_smoothing = 0.2});
  EXPECT_NEAR(loss.sum.item<double>(), 0.9 * std::log(4.0 / 3) + 0.1 * std::log(4), 1e-12);
}

TEST(GroupLoss, IsTheMeanOfTheColumnsOfEachGroup) {
  const at::Tensor logits = logits_of({0, 0, std::log(3), 0, 7, 7, 1, 2}, 2);
  const Loss loss = group_loss(logits, std::vector<int32_t>{0, 2, 3, 4}, std::vector<int32_t>{1, 0, 0, -1, 0, 0});
  EXPECT_NEAR(loss.sum.item<double>(), (std::log(4.0 / 3) + std::log(2)) / 2, 1e-12);
  EXPECT_EQ(loss.count, 2);
  EXPECT_EQ(loss.correct, 2);  // the first of equal rows is taken
  loss.sum.backward();
  EXPECT_EQ(logits.grad()[2].abs().sum().item<double>(), 0);
}

TEST(GroupLoss, StaysFiniteHoweverFarLogitsAreApart) {
  const at::Tensor logits = logits_of({-10000, 9000, 0, 1000, -800, -800}, 1);
  const Loss loss = group_loss(logits, std::vector<int32_t>{0, 2, 4, 6}, std::vector<int32_t>{0, 1, 1});
  EXPECT_DOUBLE_EQ(loss.sum.item<double>(), 19000 + std::log(2));
}

TEST(RegressionLoss, IsTheSquaredErrorOfEachRow) {
  const Loss loss = regression_loss(logits_of({1, 2.5}, 1), std::vector<float>{3, 2});
  EXPECT_DOUBLE_EQ(loss.sum.item<double>(), 4.25);
  EXPECT_EQ(loss.count, 2);
  EXPECT_EQ(loss.correct, 0);
}

TEST(RegressionLoss, IsAMeanOverScoresAndWeightsOfRows) {
  const std::vector<float> scores = {3, 2, 0, 1}, of_rows = {2, 0.5f};
  const at::Tensor logits = logits_of({1, 2.5, 1, 1}, 2);
  const Loss plain = regression_loss(logits, scores);
  EXPECT_DOUBLE_EQ(plain.sum.item<double>(), 4 + 0.25 + 1);
  EXPECT_EQ(plain.divisor(), 4);
  const Loss weighted = regression_loss(logits, scores, of_rows);
  EXPECT_DOUBLE_EQ(weighted.sum.item<double>(), 2 * 4.25 + 0.5 * 1);
  EXPECT_EQ(weighted.divisor(), 5);
  EXPECT_EQ(weighted.count, 4);
}

TEST(BinaryLoss, IsAMeanOverWeightsOfRows) {
  const std::vector<float> of_rows = {3, 1};
  const Loss loss = binary_loss(logits_of({0, std::log(3), 0, 0}, 2), std::vector<float>{1, 0, 0, 1}, of_rows);
  EXPECT_NEAR(loss.sum.item<double>(), 3 * (std::log(2) + std::log(4)) + 2 * std::log(2), 1e-12);
  EXPECT_EQ(loss.divisor(), 8);
}

TEST(BinaryLoss, CountsEveryLabelByItself) {
  const Loss loss = binary_loss(logits_of({0, std::log(3), -std::log(3), 0}, 2), std::vector<float>{1, 0, 0, 1});
  EXPECT_NEAR(loss.sum.item<double>(), std::log(2) + std::log(4) + std::log(4.0 / 3) + std::log(2), 1e-12);
  EXPECT_EQ(loss.count, 4);
  EXPECT_EQ(loss.correct, 3);
}

TEST(TaskLosses, HaveTheirFiniteDifferencesAsGradients) {
  const at::Tensor logits = normal_tensor(1, {4, 3}).requires_grad_(true);
  const std::vector<int32_t> labels = {2, -1, 0, 1};
  const std::vector<float> values = normals(2, 12, 0.3, 0.5);
  EXPECT_LE(worst_gradient_error({logits}, [&] { return class_loss(logits, labels).sum; }), 1e-8);
  EXPECT_LE(worst_gradient_error({logits}, [&] { return soft_class_loss(logits, values).sum; }), 1e-8);
  const std::vector<float> weights = {0.5f, 1, 2};
  const std::vector<float> rows = {1, 3, 0.5f, 2};
  const ClassOptions options{.label_smoothing = 0.2, .weights_C = weights, .weights_N = rows};
  const std::vector<int32_t> starts = {0, 1, 4}, of_columns = {0, 0, 0, 2, 0, 1};
  EXPECT_LE(worst_gradient_error({logits}, [&] { return group_loss(logits, starts, of_columns, 0.1).sum; }), 1e-8);
  EXPECT_LE(worst_gradient_error({logits}, [&] { return class_loss(logits, labels, options).sum; }), 1e-8);
  EXPECT_LE(worst_gradient_error({logits}, [&] { return regression_loss(logits, values).sum; }), 1e-8);
  EXPECT_LE(worst_gradient_error({logits}, [&] { return binary_loss(logits, values).sum; }), 1e-8);
  EXPECT_LE(worst_gradient_error({logits}, [&] { return soft_class_loss(logits, values, options).sum; }), 1e-8);
  EXPECT_LE(worst_gradient_error({logits}, [&] { return regression_loss(logits, values, rows).sum; }), 1e-8);
  EXPECT_LE(worst_gradient_error({logits}, [&] { return binary_loss(logits, values, rows).sum; }), 1e-8);
}

}  // namespace
}  // namespace deberta::train::task_losses_test
