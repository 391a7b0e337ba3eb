// How much arithmetic a training run was.
#pragma once
#include "deberta/config.h"

namespace deberta::train {

// Operations for a token of a sequence of `length`, forward and backward (cost/operations.h): of a language model that
// predicts a share `predicted` of the tokens, or, at 0, of a discriminator, which is asked about every token. The
// tables of relative positions, which a batch shares, are not counted.
double training_flops_per_token(const ModelConfig& config, int32_t length, double predicted);

}  // namespace deberta::train
