// Runs the teacher without gradients, and mixes its divergence with the task's loss.
#include "train/objectives/distillation.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/tensor.h>
#include <torch/csrc/autograd/autograd.h>

#include "train/objectives/divergence.h"
#include "train/objectives/language_model.h"
#include "train/objectives/task_check.h"

namespace deberta::train {
namespace {

TaskLogits logits_of(const Model& model, const Compute& compute, const TaskBatch& batch, const TaskOptions& options,
                     const DropoutStream& dropout) {
  check_task(model.form, options);
  check_batch(model.form, batch, options.loss);
  const Pass pass = make_pass(model, compute, input_of(batch.input), dropout);
  return task_logits(pass, model, options.loss, batch, sum_embeddings(pass, model.embeddings));
}

at::Tensor answers_of(const Teacher& teacher, const Compute& compute, const TaskBatch& batch,
                      const TaskOptions& options) {
  const at::NoGradGuard no_gradients;
  Compute teacher_compute = compute;
  teacher_compute.store = nullptr;  // which is for the weights that move
  const at::Tensor logits_NC = logits_of(teacher.model, teacher_compute, batch, options, {}).logits_NC;
  return teacher.columns_C.empty() ? logits_NC : logits_NC.index_select(1, at::tensor(teacher.columns_C, at::kLong));
}

}  // namespace

DistillationLoss distillation_loss(const TaskLogits& student, const at::Tensor& teacher_NC, const TaskBatch& batch,
                                   const TaskOptions& options, const DistillationOptions& distillation) {
  DistillationLoss result{.loss = task_loss(student, batch, options)};
  result.task = result.loss.sum.item<double>();
  const Comparison comparison = compare_task(student, batch, options);
  const double t = comparison.over == Comparison::Over::kScores ? 1 : distillation.temperature;
  const at::Tensor soft_NC = teacher_NC.to(at::kDouble) / t;
  const at::Tensor apart =
      t * t *
      (divergence(DivergenceKind::kKl, student.logits_NC.to(at::kDouble) / t, soft_NC, comparison) -
       divergence(DivergenceKind::kKl, soft_NC, soft_NC, comparison));
  result.distillation = apart.item<double>();
  result.loss.sum = (1 - distillation.weight) * result.loss.sum + distillation.weight * apart;
  return result;
}

DistillationLoss distillation_loss(const Model& student, const Teacher& teacher, const Compute& compute,
                                   const TaskBatch& batch, const TaskOptions& options,
                                   const DistillationOptions& distillation, const DropoutStream& dropout) {
  const at::Tensor teacher_NC = answers_of(teacher, compute, batch, options);
  return distillation_loss(logits_of(student, compute, batch, options, dropout), teacher_NC, batch, options,
                           distillation);
}

}  // namespace deberta::train
