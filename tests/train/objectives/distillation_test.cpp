// Learning from a teacher, for every head: sums against plain loops in double, what each end of the weight leaves, and
// whose gradients flow.
#include "train/objectives/distillation.h"

#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "train/model/parameters.h"
#include "train/objectives/language_model.h"
#include "train/objectives/task_case.h"

namespace deberta::train::distillation_test {
namespace {

using namespace test;

constexpr uint32_t kItems = 4;

TaskLogits logits_of(const Model& model, const TaskCase& task, const TaskBatch& batch) {
  const Pass pass = make_pass(model, test_compute(), input_of(batch.input), {});
  return task_logits(pass, model, task.loss, batch, sum_embeddings(pass, model.embeddings));
}

// The logits of another model of the same form.
at::Tensor other_logits(const at::Tensor& like) {
  return normal_tensor(77, like.sizes()) * 2;
}

std::vector<double> values_of(const at::Tensor& tensor) {
  const at::Tensor values = tensor.detach().to(at::kDouble).contiguous();
  return {values.const_data_ptr<double>(), values.const_data_ptr<double>() + values.numel()};
}

// KL of the softmaxes of both at temperature t.
double divergence_of(const std::vector<double>& teacher, const std::vector<double>& student, double t) {
  double teacher_sum = 0, student_sum = 0, result = 0;
  for (const double logit : teacher) teacher_sum += std::exp(logit / t);
  for (const double logit : student) student_sum += std::exp(logit / t);
  for (size_t i = 0; i < teacher.size(); ++i) {
    const double p = std::exp(teacher[i] / t) / teacher_sum, q = std::exp(student[i] / t) / student_sum;
    result += p * (std::log(p) - std::log(q));
  }
  return result;
}

// The rows of each group, a column at a time.
double of_groups(const TaskLogits& student, const std::vector<double>& teacher, const std::vector<double>& own,
                 const std::vector<bool>& counts_G, double t) {
  const auto columns = static_cast<size_t>(student.logits_NC.size(1));
  double sum = 0;
  for (size_t g = 0; g + 1 < student.groups.size(); ++g) {
    for (size_t d = 0; d < columns && counts_G[g]; ++d) {
      std::vector<double> teacher_values, student_values;
      for (auto n = static_cast<size_t>(student.groups[g]); n < static_cast<size_t>(student.groups[g + 1]); ++n) {
        teacher_values.push_back(teacher[n * columns + d]);
        student_values.push_back(own[n * columns + d]);
      }
      sum += divergence_of(teacher_values, student_values, t) / static_cast<double>(columns);
    }
  }
  return sum;
}

double of_rows(const TaskCase& task, const TaskBatch& batch, const std::vector<double>& teacher,
               const std::vector<double>& own, double t) {
  const auto columns = static_cast<size_t>(task.labels);
  const std::vector<int32_t>& labels = task.loss == TaskLoss::kTokens ? batch.input.labels_P : batch.classes_B;
  double sum = 0;
  for (size_t n = 0; n < own.size() / columns; ++n) {
    if (!labels.empty() && labels[n] < 0) continue;
    const auto at = static_cast<std::ptrdiff_t>(n * columns);
    const auto row = [&](const std::vector<double>& all) {
      return std::vector<double>(all.begin() + at, all.begin() + at + static_cast<std::ptrdiff_t>(columns));
    };
    sum += divergence_of(row(teacher), row(own), t);
  }
  return sum;
}

double expected_of(const TaskCase& task, const TaskBatch& batch, const TaskLogits& student, const at::Tensor& other,
                   double t) {
  const std::vector<double> teacher = values_of(other), own = values_of(student.logits_NC);
  double sum = 0;
  switch (task.loss) {
    case TaskLoss::kClass:
    case TaskLoss::kTokens:
      return t * t * of_rows(task, batch, teacher, own, t);
    case TaskLoss::kSpan:
      return t * t * of_groups(student, teacher, own, std::vector<bool>(kItems, true), t);
    case TaskLoss::kChoice: {
      std::vector<bool> counts;
      for (const int32_t right : batch.right_Q) counts.push_back(right >= 0);
      return t * t * of_groups(student, teacher, own, counts, t);
    }
    case TaskLoss::kScore:
      for (size_t n = 0; n < own.size(); ++n) sum += (own[n] - teacher[n]) * (own[n] - teacher[n]);
      return sum;
    default:  // each label by itself
      for (size_t n = 0; n < own.size(); ++n) {
        if (task.loss == TaskLoss::kMention && batch.mentions[n] == batch.mentions[n + 1]) continue;
        sum += divergence_of({teacher[n], 0}, {own[n], 0}, t);
      }
      return t * t * sum;
  }
}

TEST(Distillation, OfEveryHeadIsThatOfPlainLoops) {
  for (const TaskCase& task : task_cases()) {
    const Model model = make_tiny(form_of(task), at::kDouble);
    const TaskBatch batch = make_task(task, 0, kItems);
    const TaskLogits student = logits_of(model, task, batch);
    const at::Tensor other = other_logits(student.logits_NC);
    const TaskOptions options{.loss = task.loss};
    const double plain = task_loss(student, batch, options).sum.item<double>();
    for (const double t : {1.0, 2.5}) {
      const DistillationLoss got = distillation_loss(student, other, batch, options, {.weight = 0.3, .temperature = t});
      const double expected = expected_of(task, batch, student, other, t);
      EXPECT_NEAR(got.distillation, expected, 1e-10) << task.name << ", temperature " << t;
      EXPECT_EQ(got.task, plain) << task.name;
      EXPECT_NEAR(got.loss.sum.item<double>(), 0.7 * plain + 0.3 * expected, 1e-10) << task.name;
    }
  }
}

TEST(Distillation, FromOnesOwnAnswersIsNothing) {
  for (const TaskCase& task : task_cases()) {
    const Model model = make_tiny(form_of(task), at::kDouble);
    const TaskBatch batch = make_task(task, 0, kItems);
    const DistillationLoss got = distillation_loss(model, Teacher{.model = make_tiny(form_of(task), at::kDouble)},
                                                   test_compute(), batch, {.loss = task.loss}, {}, {});
    EXPECT_NEAR(got.distillation, 0, 1e-12) << task.name;
    EXPECT_NEAR(got.loss.sum.item<double>(), 0.5 * got.task, 1e-12) << task.name;
  }
}

// A class that weighs more weighs more in both parts, and the divisor is the task's.
TEST(Distillation, WeighsClassesAsTheTaskDoes) {
  const TaskCase task = task_cases()[0];
  const Model model = make_tiny(form_of(task), at::kDouble);
  TaskBatch batch = make_task(task, 1, 2);
  const TaskLogits student = logits_of(model, task, batch);
  const at::Tensor other = other_logits(student.logits_NC);
  const std::vector<float> weights = {0.5f, 1, 3};
  double expected = 0;
  for (size_t n = 0; n < 2; ++n) {
    TaskBatch single = batch;
    single.classes_B[1 - n] = -1;
    expected += double{weights[static_cast<size_t>(batch.classes_B[n])]} *
                distillation_loss(student, other, single, {.loss = task.loss}, {}).distillation;
  }
  const TaskOptions weighted{.loss = task.loss, .class_weights_C = weights};
  const DistillationLoss got = distillation_loss(student, other, batch, weighted, {});
  EXPECT_NEAR(got.distillation, expected, 1e-10);
  EXPECT_EQ(got.loss.divisor(), task_loss(student, batch, weighted).divisor());
}

// Three times a row is that row three times.
TEST(Distillation, WeighsRowsAsTheTaskDoes) {
  for (const size_t number : {0u, 1u, 3u, 8u}) {
    const TaskCase task = task_cases()[number];
    const Model model = make_tiny(form_of(task), at::kDouble);
    TaskBatch batch = make_task(task, 1, 2);
    const TaskLogits student = logits_of(model, task, batch);
    const at::Tensor other = other_logits(student.logits_NC);
    const double both = distillation_loss(student, other, batch, {.loss = task.loss}, {}).distillation;
    batch.weights_B = {1, 3};
    const DistillationLoss got = distillation_loss(student, other, batch, {.loss = task.loss}, {});
    batch.weights_B = {3, 1};
    const DistillationLoss turned = distillation_loss(student, other, batch, {.loss = task.loss}, {});
    EXPECT_NEAR(got.distillation + turned.distillation, 4 * both, 1e-10) << task.name;
    EXPECT_GT(std::abs(got.distillation - turned.distillation), 1e-3) << task.name;
    EXPECT_EQ(got.loss.divisor(), task_loss(student, batch, {.loss = task.loss}).divisor()) << task.name;
  }
}

TEST(Distillation, TakesTheTeachersColumnsInTheStudentsOrder) {
  const TaskCase task = task_cases()[0];
  const Model student = make_tiny(form_of(task), at::kDouble);
  const TaskBatch batch = make_task(task, 0, kItems);
  Teacher turned{.model = make_tiny(form_of(task), at::kDouble), .columns_C = {2, 0, 1}};
  at::Tensor& weight_OI = turned.model.head.classifier.weight_OI;
  at::Tensor& bias_O = turned.model.head.classifier.bias_O;
  {
    const at::NoGradGuard no_gradients;  // class c is row columns_C[c]
    const at::Tensor rows = at::tensor({1, 2, 0}, at::kLong);
    weight_OI.copy_(weight_OI.index_select(0, rows).clone());
    bias_O.copy_(bias_O.index_select(0, rows).clone());
  }
  EXPECT_NEAR(distillation_loss(student, turned, test_compute(), batch, {.loss = task.loss}, {}, {}).distillation, 0,
              1e-12);
  turned.columns_C = {};
  EXPECT_GT(distillation_loss(student, turned, test_compute(), batch, {.loss = task.loss}, {}, {}).distillation, 1e-3);
}

TEST(Distillation, MovesTheStudentAlone) {
  for (const TaskCase& task : task_cases()) {
    Model student = make_tiny(form_of(task), at::kDouble);
    ModelForm other = form_of(task);
    other.config.num_hidden_layers = 1;
    Teacher teacher{.model = make_tiny(other, at::kDouble)};
    const TaskBatch batch = make_task(task, 0, kItems);
    std::vector<at::Tensor> tensors;
    for (const NamedParameter& parameter : trained_parameters(student)) tensors.push_back(parameter.tensor);
    const auto loss = [&] {
      return distillation_loss(student, teacher, test_compute(), batch, {.loss = task.loss}, {}, {}).loss.sum;
    };
    EXPECT_LE(worst_gradient_error(tensors, loss, 2), 2e-8) << task.name;
    for (const NamedParameter& parameter : trained_parameters(teacher.model))
      EXPECT_FALSE(parameter.tensor.grad().defined()) << task.name << parameter.name;
  }
}

}  // namespace
}  // namespace deberta::train::distillation_test
