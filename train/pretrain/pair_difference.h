// The difference of a discriminator's tables and the generator's, for TableSharing::kDisentangled: in files, and what
// it is worth.
#pragma once
#include <string>
#include <vector>

#include "deberta/checkpoint.h"
#include "train/step/pair_trainer.h"

namespace deberta::train {

// The tables of a model that holds a difference, under the names that files have for that: "…._weight". Not copied.
std::vector<TensorView> difference_tensors(Model& discriminator);

// The model holds the difference that `files` have. False, and nothing is changed: they have none. Throws kTensors for
// one of another shape, or for words without positions.
bool load_difference(Model& discriminator, const Checkpoint& files);

// The discriminator's mean loss on one batch, without dropout, with its difference and with the generator's tables as
// they are.
struct DifferenceEffect {
  double with = 0, without = 0;
  bool is_zero = false;  // the two tables are the same

  bool helps() const { return is_zero || with < without; }
  std::string describe() const;  // for users to read
};
DifferenceEffect effect_of_difference(PairTrainer& pair, const Compute& compute, const TrainBatch& batch,
                                      DropoutStream dropout);

}  // namespace deberta::train
