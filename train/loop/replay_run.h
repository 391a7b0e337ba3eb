// Given batches, step by step, and what a trainer makes of them: losses, gradients, weights. Nothing is drawn at
// random, so that another program's figures can be set beside ours.
#pragma once
#include <string>

#include "train/loop/pretrain.h"

namespace deberta::train {

struct ReplaySettings {
  std::string model_folder;
  std::string batches;  // safetensors; for each step N from 0: N.input_ids and N.labels [B, L], and where they are not
                        // all ones, zeros, or 0 .. L-1: N.attention_mask, N.token_type_ids, N.position_ids [B, L]; a
                        // label below 0 is not predicted
  std::string output;  // safetensors: N.loss [1], N.norm [1], N.grad.NAME before the clip, N.weight.NAME after the step
  Objective objective = Objective::kMasked;
  std::optional<int64_t> decoder_passes = std::nullopt;  // of the mask decoder; none: as config.json says
  AdamOptions adam = {};
  double learning_rate = 5e-4;  // of every step
  double max_norm = 1;
  size_t threads = 0;
  std::string kernels = "auto";
};

// Returns the steps. Throws kInput for a file of another form, and what the parts throw.
int64_t replay(const ReplaySettings& settings, const RunHooks& hooks);

}  // namespace deberta::train
