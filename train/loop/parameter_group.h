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

  struct Update {
    double norm = 0;        // of the gradients, before the clip
    bool is_finite = true;  // false: a gradient is not, and the weights stay as they were
  };
  // One step with the gradients, clipped to `max_norm` (0: not); they are zero afterwards.
  Update update(double rate, double max_norm);
  void drop_gradients();

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
