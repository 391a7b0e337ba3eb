// How much arithmetic a training run was.
#pragma once
#include "base/json.h"

namespace deberta::train {

// Of one token of a sequence of `length`, by the shapes of config.json: matrix products of the layers, scores and
// values of attention, c2p and p2c where the model has them, and a language model's head on `predicted` of the tokens;
// forward once and backward twice as much. Two for a multiplication and its addition. Norms, softmax, dropout, the
// optimiser and the tables of relative positions, which a batch shares, are not counted.
double training_flops_per_token(const Json& config, double length, double predicted);

}  // namespace deberta::train
