// The settings of a replay, and what its batches are.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "train/objectives/distillation.h"
#include "train/objectives/perturbation.h"
#include "train/pretrain/settings.h"

namespace deberta::train {

struct ReplaySettings {
  std::string model_folder;
  std::string batches;  // safetensors; for each step N from 0: N.input_ids and N.labels [B, L], and where they are not
                        // all ones, zeros, or 0 .. L-1: N.attention_mask, N.token_type_ids, N.position_ids [B, L]; a
                        // label below 0 is not predicted
  std::string output;  // safetensors: N.loss [1], N.norm [1], N.grad.NAME before the clip, N.weight.NAME after the step
  Objective objective = Objective::kMasked;
  // For kReplaced: model_folder is the discriminator's; batches have N.new_ids [B, L] as well: what the discriminator
  // reads where a word is predicted, from the generator or not. For N.loss and N.norm there are
  // N.generator.loss, N.discriminator.loss and so on, NAME is generator.NAME or discriminator.NAME, and a difference
  // has the name of its table. N.learning_rate [1]: of both models in that step.
  PairOptions pair = {};
  double discriminator_rate = 0;  // 0: learning_rate
  std::string generator_folder = {};
  // A task's head instead of `objective`. N.labels are
  //   kClass    classes [B], or distributions [B, C]
  //   kScore    numbers [B]
  //   kLabels   0 or 1 [B, C]
  //   kTokens   classes [B, L], below 0: none
  //   kSpan     N.first and N.last [B] instead, positions in the sequence
  //   kChoice   right choices [Q], the sequences being B / Q for each
  //   kMention  0 or 1 [B, M], with N.mentions [B, M, P], positions in the sequence, 0: none
  // With `adversarial`, N.delta [B, L, D] is the first change of the inputs, and there are N.task_loss and
  // N.adversarial_loss too.
  std::optional<TaskLoss> task = std::nullopt;
  std::optional<AdversarialOptions> adversarial = std::nullopt;
  // For a task's head too, instead of `adversarial`: a model with the same classes in the same order. There are
  // N.task_loss and N.distillation_loss too.
  std::string teacher_folder = {};
  DistillationOptions distillation = {};
  std::optional<int64_t> decoder_passes = std::nullopt;  // of the mask decoder; none: as config.json sets it
  OptimizerOptions optimizer = {};
  double learning_rate = 5e-4;  // rate of every step
  double max_norm = 1;
  WorkplaceSettings workplace = {};
};

}  // namespace deberta::train
