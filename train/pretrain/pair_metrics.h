// What steps of a pair add to the sums of a log, and the metrics that follow from these and the tables.
#pragma once
#include "train/run/learner.h"
#include "train/step/pair_trainer.h"

namespace deberta::train {

inline constexpr const char* kOfGenerator = "generator_";  // what names of its sums and metrics begin with
inline constexpr const char* kOfDiscriminator = "discriminator_";

// `discriminator_rate`: what its parameters moved at.
void add_to_sums(const PairStep& result, double rate, double discriminator_rate, Sums& sums);

// The metrics of the steps since the last line, with those of the discriminator if it was trained in one. `loss` is
// what is trained.
Metrics pair_metrics(const Sums& sums, double lambda);

// Mean over the rows of the cosine of a row in the discriminator's table and in the generator's, for words and, where
// the discriminator reads them, positions. Rows of zeros do not count. `discriminator`: with whole tables.
Metrics table_cosines(const Model& discriminator, const Model& generator);

}  // namespace deberta::train
