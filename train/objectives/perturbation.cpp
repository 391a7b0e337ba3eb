// Three passes with different dropout: clean, perturbed to find delta, and perturbed by delta.
#include "train/objectives/perturbation.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/autograd.h>

#include <algorithm>
#include <cmath>

#include "train/objectives/language_model.h"
#include "train/objectives/task_check.h"
#include "train/ops/random_normals.h"

namespace deberta::train {
namespace {

constexpr double kInputEpsilon = 1e-7;     // epsilon of the norm of the inputs
constexpr double kGradientEpsilon = 1e-6;  // beside the largest |g|
constexpr double kMostDeviations = 2;

at::Tensor normalise(const Compute& compute, const at::Tensor& x_TD) {
  const auto options = x_TD.options().requires_grad(false);
  return layer_norm(compute, x_TD,
                    {at::ones({x_TD.size(1)}, options), at::zeros({x_TD.size(1)}, options), kInputEpsilon});
}

// The four elements from column 4 * block of the token at `position` in sequence `number`.
std::array<double, 4> draw_four(const Pass& pass, uint64_t key, size_t number, int32_t position, size_t block) {
  const PhiloxCounter counter = {static_cast<uint32_t>(position), static_cast<uint32_t>(block),
                                 pass.first_sequence + static_cast<uint32_t>(number), pass.dropout_stream.step};
  return to_normals(philox(counter, {static_cast<uint32_t>(key), static_cast<uint32_t>(key >> 32)}));
}

// The three passes of a batch, which differ in what dropout drops.
class Passes {
 public:
  Passes(const Model& model, const Compute& compute, const TaskBatch& batch, const TaskOptions& options,
         const DropoutStream& dropout)
      : model_(model),
        batch_(batch),
        options_(options),
        pass_(make_pass(model, compute, input_of(batch.input), dropout)) {}

  const Pass& pass() const { return pass_; }
  TaskLogits run(const at::Tensor& inputs_TD) const { return run(pass_, inputs_TD); }
  at::Tensor run_again(const at::Tensor& inputs_TD, RandomDomain domain) const {
    Pass again = pass_;
    again.dropout_stream.seed = random_key(pass_.dropout_stream.seed, domain);
    return run(again, inputs_TD).logits_NC;
  }

 private:
  TaskLogits run(const Pass& pass, const at::Tensor& inputs_TD) const {
    return task_logits(pass, model_, options_.loss, batch_, inputs_TD);
  }

  const Model& model_;
  const TaskBatch& batch_;
  const TaskOptions& options_;
  Pass pass_;
};

AdversarialLoss without_perturbation(const Loss& task) {
  AdversarialLoss result;
  result.loss = task;
  result.task = task.sum.item<double>();
  return result;
}

at::Tensor move(const at::Tensor& delta_TD, const at::Tensor& gradient_TD, double rate) {
  if (!std::isfinite(gradient_TD.norm().item<double>())) return delta_TD;
  const at::Tensor largest_T1 = gradient_TD.abs().amax(1, true);
  return delta_TD + rate * gradient_TD / (kGradientEpsilon + largest_T1);
}

// delta from delta0. The gradient of delta alone is asked for: nothing is added to those of the parameters.
void find_delta(const Passes& passes, const AdversarialOptions& adversarial, const Comparison& comparison,
                AdversarialLoss& result) {
  const at::Tensor delta_TD = result.delta0_TD.to(result.inputs_TD.options()).clone().requires_grad_(true);
  const at::Tensor changed_NC = passes.run_again(result.inputs_TD + delta_TD, RandomDomain::kPerturbedDropout);
  at::Tensor apart = divergence(adversarial.kind, changed_NC, result.clean_NC, comparison);
  if (adversarial.is_original && adversarial.kind == DivergenceKind::kSquared) apart = apart / changed_NC.numel();
  result.perturbed_NC = changed_NC.detach();
  result.delta_gradient_TD = torch::autograd::grad({apart}, {delta_TD})[0];
  result.delta_TD = move(delta_TD.detach(), result.delta_gradient_TD, adversarial.learning_rate);
}

}  // namespace

at::Tensor draw_perturbation(const Pass& pass, double deviation) {
  const uint64_t key = random_key(pass.dropout_stream.seed, RandomDomain::kPerturbation);
  const Rows& tokens = *pass.tokens;
  const auto columns = static_cast<size_t>(pass.form.config.hidden_size);
  at::Tensor delta_TD = at::empty({static_cast<int64_t>(tokens.count()), pass.form.config.hidden_size}, at::kFloat);
  float* value = delta_TD.data_ptr<float>();
  for (size_t b = 0; b < tokens.sequences(); ++b) {
    for (size_t t = tokens.begin(b); t < tokens.end(b); ++t) {
      for (size_t d = 0; d < columns; d += 4) {
        const std::array<double, 4> normals = draw_four(pass, key, b, tokens.position(b, t), d / 4);
        for (size_t k = 0; k < std::min<size_t>(4, columns - d); ++k) {
          *value++ = static_cast<float>(deviation * std::clamp(normals[k], -kMostDeviations, kMostDeviations));
        }
      }
    }
  }
  return delta_TD;
}

AdversarialLoss adversarial_loss(const Model& model, const Compute& compute, const TaskBatch& batch,
                                 const TaskOptions& options, const AdversarialOptions& adversarial,
                                 const DropoutStream& dropout, const at::Tensor& delta0_TD) {
  if (adversarial.lambda == 0) return without_perturbation(task_loss(model, compute, batch, options, dropout));
  check_task(model.form, options);
  check_batch(model.form, batch, options.loss);
  const Passes passes(model, compute, batch, options, dropout);
  const at::Tensor sum_TD = sum_embeddings(passes.pass(), model.embeddings);
  const at::Tensor inputs_TD = adversarial.normalises_inputs ? normalise(compute, sum_TD) : sum_TD;
  const TaskLogits clean = passes.run(inputs_TD);
  AdversarialLoss result = without_perturbation(task_loss(clean, batch, options));
  if (result.loss.count == 0) return result;

  const Comparison comparison = adversarial.is_original
                                    ? compare_originally(clean, batch, options, result.loss.divisor())
                                    : compare_task(clean, batch, options);
  result.inputs_TD = inputs_TD.detach();
  result.clean_NC = clean.logits_NC.detach();
  result.delta0_TD = delta0_TD.defined() ? delta0_TD : draw_perturbation(passes.pass(), adversarial.deviation);
  find_delta(passes, adversarial, comparison, result);
  const at::Tensor changed_NC = passes.run_again(result.inputs_TD + result.delta_TD, RandomDomain::kAdversarialDropout);
  const at::Tensor apart =
      comparison.factor * divergence(DivergenceKind::kSymmetricKl, changed_NC, clean.logits_NC, comparison);
  result.adversarial_NC = changed_NC.detach();
  result.adversarial = apart.item<double>();
  result.loss.sum = result.loss.sum + adversarial.lambda * apart;
  return result;
}

}  // namespace deberta::train
