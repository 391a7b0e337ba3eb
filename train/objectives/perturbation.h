// Adversarial fine-tuning (model-training.md#adversarial-fine-tuning): SiFT, scale-invariant fine-tuning (He et
// al. 2021, DeBERTa, section 5), and virtual adversarial training, which is the same without the norm of the inputs.
//   x      = LN(sum of embeddings), without weights               VAT: the sum itself
//   delta0 = normals, clamped at twice their deviation
//   g      = gradient for delta of divergence( f(x + delta0), f(x) )
//   delta  = delta0 + rate * g / (1e-6 + largest |g| of the position)
//   loss   = task + lambda * divergence( f(x + delta), f(x) )    x as it is, without gradient, but f(x) with
// At evaluation nothing of this remains: the norm of the inputs changes only the epsilon of the norm that follows.
// T packed tokens  D hidden
#pragma once
#include "train/objectives/divergence.h"

namespace deberta::train {

struct AdversarialOptions {
  double lambda = 5;                                   // 0: none of it
  double learning_rate = 1e-4;                         // rate of delta's step
  double deviation = 1e-2;                             // standard deviation of delta0
  DivergenceKind kind = DivergenceKind::kSymmetricKl;  // divergence of the step that finds delta
  bool normalises_inputs = true;                       // false: VAT
  bool is_original = false;  // the losses of the published code, with the softmax of scores over the batch
};

struct AdversarialLoss {
  Loss loss;               // all of it, with the count of the task's
  double task = 0;         // sums, with the divisor of the loss
  double adversarial = 0;  // without lambda
  // What was computed on the way, without gradients; undefined where lambda is 0 or the batch has no label.
  at::Tensor inputs_TD, delta0_TD, delta_gradient_TD, delta_TD, clean_NC, perturbed_NC, adversarial_NC;
};

// `delta0_TD` undefined: drawn, an element being a function of seed and step in `dropout`, of its sequence's number and
// its position there. Throws what task_loss() does.
AdversarialLoss adversarial_loss(const Model& model, const Compute& compute, const TaskBatch& batch,
                                 const TaskOptions& options, const AdversarialOptions& adversarial,
                                 const DropoutStream& dropout, const at::Tensor& delta0_TD = {});

// delta0 of a pass.
at::Tensor draw_perturbation(const Pass& pass, double deviation);

}  // namespace deberta::train
