// How much arithmetic a training run was.
#pragma once
#include "deberta/config.h"

namespace deberta::train {

// Of one token of a sequence of `length`, by the shapes of its configuration: matrix products of the layers, scores and
// values of attention, the terms of relative positions that the model has, the convolution; of a language model, which
// predicts `predicted` of the tokens, the last layer or the passes of the mask decoder for these, and the head. 0: all
// layers for all tokens. Forward once and backward twice as much. Two for a multiplication and its addition. Norms,
// softmax, dropout, the optimiser and the tables of relative positions, which a batch shares, are not counted.
double training_flops_per_token(const ModelConfig& config, double length, double predicted);

}  // namespace deberta::train
