// Parameters, of one model or of several, with their optimiser: weights, gradients and the optimiser's state in flat
// memory, one norm to clip by. Knows no losses.
#pragma once
#include <vector>

#include "base/parallel.h"
#include "train/model/parameters.h"
#include "train/optim/adam.h"

namespace deberta::train {

class ParameterGroup {
 public:
  // Weights begin with the values of the parameters. `parallel` outlives this object. Throws what Adam and
  // make_layout() do.
  ParameterGroup(const std::vector<NamedParameter>& parameters, const AdamOptions& options, const Parallel& parallel);

  // Of each parameter, in the order given: for move_parameters().
  std::vector<ParameterMemory> memory();

  struct UpdateSettings {
    double rate = 0;
    double max_norm = 1;          // 0: no clip
    double count = 1;             // what the gradients are divided by
    bool has_finite_loss = true;  // false: only the norm is computed
  };
  struct Update {
    double norm = 0;        // of the divided gradients, before the clip
    bool is_finite = true;  // false: the loss or a gradient is not, and the weights stay as they were
  };
  // One step with the gradients, divided and clipped; they are zero afterwards.
  Update update(const UpdateSettings& settings);

  const ParameterLayout& layout() const { return layout_; }
  FlatBuffer& weights() { return weights_; }
  const FlatBuffer& gradients() const { return gradients_; }
  Adam& adam() { return adam_; }

 private:
  ParameterLayout layout_;
  FlatBuffer weights_;
  FlatBuffer gradients_;
  Adam adam_;
  Parallel parallel_;
};

}  // namespace deberta::train
