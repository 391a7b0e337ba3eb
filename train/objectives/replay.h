// One step without its optimiser: losses of given batches and the gradients that an optimiser would get, before any
// clip. Nothing is drawn at random but what a DropoutStream draws. For comparison with other programs.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "train/model/parameters.h"
#include "train/objectives/loss.h"

namespace deberta::train {

struct NamedGradient {
  std::string name;     // as in the checkpoint
  at::Tensor gradient;  // gradient of the mean; zeros where nothing reaches the parameter
};

struct ReplayedStep {
  double loss = 0;  // mean over all labels of the step
  int64_t count = 0, correct = 0;
  std::vector<NamedGradient> gradients;  // in the order of trained_parameters()
};

// `losses`: of one batch each; all of them form the step. Gradients that the parameters hold are cleared first, and
// hold those of the sum afterwards.
ReplayedStep replay_step(Model& model, const std::vector<std::function<Loss()>>& losses);

}  // namespace deberta::train
