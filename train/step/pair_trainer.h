// A generator and a discriminator with their optimisers, and one step of replaced-token detection on them
// (objectives/replaced_tokens.h). Knows no files, data or schedule of a run.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "train/objectives/replaced_tokens.h"
#include "train/step/parameter_group.h"
#include "train/step/trainer.h"

namespace deberta::train {

struct PairOptions {
  TableSharing sharing = TableSharing::kDisentangled;
  // One optimiser on L_G + lambda L_D. Otherwise each model has its own: the generator steps first, and the
  // discriminator then reads its moved tables, with words drawn before.
  bool is_joint = false;
  double lambda = 10;  // the original code's; its paper has 50
};

struct PairStep {
  StepResult generator;
  StepResult discriminator;  // the loss without lambda, the norm with it; joint: both norms are that of all gradients
  int64_t replaced = 0, flagged = 0, detected = 0;  // as in DiscriminatorLoss
};

struct PairStepSettings {
  double rate = 0;
  double discriminator_rate = 0;  // rate of its own optimiser
  double max_norm = 1;            // 0: no clip
};

struct PairStepExtras {
  std::span<const std::vector<int32_t>> given_ids_P = {};     // ids for each batch, instead of drawn words
  std::function<void(const ParameterGroup& group)> see = {};  // gets the gradients before the clip
  // Called before each micro-batch until a weight moves; may throw, and then none has.
  std::function<void()> check_stop = [] {};
};

class PairTrainer {
 public:
  // The discriminator holds what `sharing` requires, its difference for kDisentangled. `compute` outlives this object.
  // Throws what check_pair() and Adam do, kUsage for kSame with two optimisers.
  PairTrainer(Model generator, Model discriminator, const PairOptions& options, const OptimizerOptions& optimizer,
              const Compute& compute);

  // `batches`: micro-batches of the step. Each mean is over the labels of all of them. Without a word to predict, or
  // with a loss or gradient that is not finite, nothing moves but a generator whose own were.
  PairStep step(std::span<const TrainBatch> batches, const DropoutStream& dropout, const PairStepSettings& settings,
                const PairStepExtras& extras = {});

  Model& generator() { return generator_; }
  const Model& generator() const { return generator_; }
  Model& discriminator() { return discriminator_; }
  // The discriminator with the tables that it reads now, for files and evaluation.
  Model joined_discriminator() const { return join_tables(discriminator_, generator_, options_.sharing); }
  // Both models' parameters as "generator.NAME" and "discriminator.NAME": in one group, or in one for each.
  std::span<ParameterGroup> groups() { return groups_; }

 private:
  void move_into_groups();
  struct StepInput;
  PackedStore* store_for(const StepInput& input) const;  // where weights are read by several micro-batches
  std::vector<TrainBatch> run_generator(const StepInput& input, double scale, StepResult& result);
  void run_discriminator(const StepInput& input, std::span<const TrainBatch> replaced, double scale, PairStep& result);
  void step_jointly(const StepInput& input, PairStep& result);
  void step_in_turn(const StepInput& input, PairStep& result);

  Model generator_, discriminator_;
  PairOptions options_;
  const Compute& compute_;
  std::vector<ParameterGroup> groups_;
};

}  // namespace deberta::train
