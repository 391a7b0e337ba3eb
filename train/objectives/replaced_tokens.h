// Replaced-token detection, DeBERTaV3 (He et al. 2023) section 3 (model-training.md#replaced-token-detection): a
// generator G puts words of its own at the masked positions, and a discriminator D classifies each token: still the one
// that stood there, or another.
//   x'[row] ~ softmax(logits of G), without gradient
//   y[t]    = 1 where x'[t] is not the word that belongs there, else 0
//   L_D     = sum over all real tokens of log(1 + e^l[t]) - y[t] l[t]
//   loss    = mean L_G + lambda mean L_D
#pragma once
#include <span>
#include <vector>

#include "train/objectives/language_model.h"

namespace deberta::train {

// Where D's tables of words and positions are from.
enum class TableSharing {
  kNone,          // NES: its own
  kSame,          // ES: they are G's, and L_D moves them too
  kDisentangled,  // GDES: G's, without gradient, plus a difference of D's own, which D's model holds instead of them
};

// Throws kUsage: tables to be shared that differ in size, or that the generator does not have.
void check_pair(const ModelForm& generator, const ModelForm& discriminator, TableSharing sharing);

// D to run, with G's tables as they are now: a model of the same tensors, but for the tables.
Model join_tables(const Model& discriminator, const Model& generator, TableSharing sharing);

// D's model holds the difference of its tables and G's from here on: join_tables() returns the tables that it had.
void hold_difference(Model& discriminator, const Model& generator);

// D's model holds no difference: join_tables() returns G's tables.
void clear_difference(Model& discriminator);

struct GeneratorLoss {
  Loss loss;
  std::vector<int32_t> ids_P;  // drawn for the rows to predict
};
// The draw of a row is a function of seed and step in `dropout`, of the sequence's number and the row's position in it.
// Throws what language_model_loss() does.
GeneratorLoss generator_loss(Model& generator, const Compute& compute, const TrainBatch& batch,
                             const DropoutStream& dropout);

// What D reads: the batch with ids_P in the rows to predict. Its rows are those of all real tokens, its labels 1 where
// a token was replaced by another. A negative id leaves what stands there. Throws kInput for another number of ids.
TrainBatch replace_tokens(const TrainBatch& batch, std::span<const int32_t> ids_P);

struct DiscriminatorLoss {
  Loss loss;             // correct: by the sign of the logit
  int64_t replaced = 0;  // labels of replaced tokens
  int64_t flagged = 0;   // called replaced
  int64_t detected = 0;  // both
};
// `discriminator`: from join_tables(); `batch`: from replace_tokens(). Dropout draws other numbers than the
// generator's.
DiscriminatorLoss discriminator_loss(const Model& discriminator, const Compute& compute, const TrainBatch& batch,
                                     const DropoutStream& dropout);

}  // namespace deberta::train
