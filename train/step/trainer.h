// A model with its optimiser: weights, gradients and the optimiser's state in flat memory, and one step on them. Knows
// no files, data or schedule of a run.
#pragma once
#include <cstdint>
#include <functional>
#include <span>

#include "train/objectives/loss.h"
#include "train/ops/compute.h"
#include "train/step/parameter_group.h"

namespace deberta::train {

struct StepResult {
  double loss = 0;     // summed over `count` labels
  double divisor = 0;  // what makes the loss a mean: the count, or what the labels weigh (objectives/loss.h)
  int64_t count = 0;
  int64_t correct = 0;
  double norm = 0;        // norm of the gradient of the mean loss, before the clip
  bool is_finite = true;  // false: loss or gradient is not, and the weights stay as they were
  double loss_scale = 0;  // afterwards; 0: losses are not scaled
};

class Trainer {
 public:
  // `compute` is of the update and of LoRA's products; what it refers to outlives this object. Throws what Adam does.
  Trainer(Model model, const OptimizerOptions& options, const Compute& compute);

  // The gradients of all losses together, divided by their common divisor and clipped to `max_norm` (0: not), move the
  // weights at `rate`. `losses`: of a micro-batch each, computed and differentiated one after the other, so that no
  // more than one is in memory; again where gradients overflow under a scaled loss. Without a label nothing moves.
  struct StepSettings {
    double rate = 0;
    double max_norm = 1;
    PackedStore* store = nullptr;  // the losses' Compute::store: weights are packed once for all of them
  };
  // `see`: is shown the sum of the gradients, and what to divide it by, before the clip.
  using See = std::function<void(const FlatBuffer& gradients, double divisor)>;
  StepResult step(std::span<const std::function<Loss()>> losses, const StepSettings& settings, const See& see = {});

  void exchange_averages();  // ParameterGroup
  void merge();              // after parameters were set: updates what the model computes with besides them (lora.h)

  Model& model() { return model_; }
  const Model& model() const { return model_; }
  ParameterGroup& group() { return group_; }

 private:
  Model model_;
  ParameterGroup group_;
  Compute compute_;
};

}  // namespace deberta::train
