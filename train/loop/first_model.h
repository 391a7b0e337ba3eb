// The model that a run begins with.
#pragma once
#include <string>

#include "deberta/tokenizer.h"
#include "train/loop/pretrain.h"
#include "train/model/model.h"

namespace deberta::train {

// Throws kUsage for sequences longer than the model's positions, kTokenId for a tokenizer with more ids than the model,
// and what new_config() throws.
ModelForm form_of_run(const PretrainSettings& settings, const Tokenizer& tokenizer);

// Random weights, or those of `settings.model_folder`; a head that it lacks is random.
Model first_model(const PretrainSettings& settings, const Tokenizer& tokenizer);

// SHA-256 of config.json as it is written.
std::string hash_of_config(const ModelConfig& config);

}  // namespace deberta::train
