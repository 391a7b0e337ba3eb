// Parameters, of one model or of several, with their optimiser: weights, gradients and the optimiser's state in flat
// memory, one norm to clip by. Knows no losses.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "checkpoint/safetensors.h"
#include "train/model/parameters.h"
#include "train/optim/adam.h"
#include "train/optim/loss_scale.h"

namespace deberta::train {

struct OptimizerOptions {
  AdamOptions adam = {};
  double loss_scale = 0;  // the first one; 0: losses are differentiated as they are
  LayerRates rates = {};  // rates of a Trainer's model
};

class ParameterGroup {
 public:
  // Weights begin with the values of the parameters. `parallel` outlives this object. Throws what Adam and
  // make_layout() do.
  ParameterGroup(const std::vector<NamedParameter>& parameters, const OptimizerOptions& options,
                 const Parallel& parallel);

  // Where each parameter lies, in the order given: for move_parameters().
  std::vector<ParameterMemory> memory();

  struct UpdateSettings {
    double rate = 0;
    double max_norm = 1;           // 0: no clip
    PackedStore* store = nullptr;  // where `differentiate` keeps packed weights, if it reads them several times
  };
  struct Differentiated {
    double divisor = 1;  // what gradients are divided by, beside the scale; 0: there are none, and nothing moves
    bool has_finite_loss = true;  // false: only the norm is computed
  };
  struct Update {
    double norm = 0;        // norm of the divided gradients, before the clip
    bool is_finite = true;  // false: the loss or a gradient is not, and the weights stay as they were
    double loss_scale = 0;  // afterwards; 0: losses are not scaled
  };
  // One step. `differentiate` adds the gradients of its losses times `scale`; they are divided, clipped and zero
  // afterwards. It is called again with a lower scale where gradients overflow under a finite loss.
  using Differentiate = std::function<Differentiated(double scale)>;
  Update step(const Differentiate& differentiate, const UpdateSettings& settings);

  // Exchanges the weights and their averages, where averages are kept.
  void exchange_averages();

  // What a run that goes on needs besides the weights, by names with the prefix: not copied, and back. Throws kTensors.
  std::vector<TensorView> state_tensors(const std::string& prefix) const;
  void load_state(const SafetensorsFile& file, const std::string& prefix);

  const ParameterLayout& layout() const { return layout_; }
  FlatBuffer& weights() { return weights_; }
  const FlatBuffer& gradients() const { return gradients_; }
  const LossScale& loss_scale() const { return loss_scale_; }

 private:
  Differentiated run(const Differentiate& differentiate, PackedStore* store);
  Update update(const Differentiated& differentiated, const UpdateSettings& settings);

  ParameterLayout layout_;
  FlatBuffer weights_;
  FlatBuffer gradients_;
  Adam adam_;
  LossScale loss_scale_;
  Parallel parallel_;
};

}  // namespace deberta::train
