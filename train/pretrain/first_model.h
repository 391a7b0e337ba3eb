// The model that a run begins with.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "deberta/tokenizer.h"
#include "train/pretrain/pretrain.h"
#include "train/model/model.h"
#include "train/model/parameters.h"

namespace deberta::train {

// Throws kUsage for sequences longer than the model's positions, kTokenId for a tokenizer with more ids than the model,
// and what new_config() throws.
ModelForm form_of_run(const PretrainSettings& settings, const Tokenizer& tokenizer);

// Of the tables in `settings.model_folder` for the tokenizer of the run. `note` is told of tokens that the run adds,
// and of new tables. Throws what word_rows() does.
WordRows rows_of_run(const PretrainSettings& settings, const Tokenizer& tokenizer,
                     const std::function<void(const std::string&)>& note);

// What a run takes of `settings.model_folder` other than a reader of the folder would expect: a generator, what is
// dropped of a pair, a new head, and which head predicts words.
std::vector<std::string> notes_of_base(const PretrainSettings& settings);

// Random weights, or those of `settings.model_folder`; a head that it lacks is random. Throws what rows_of_run() and
// load_parameters() do.
Model first_model(
    const PretrainSettings& settings, const Tokenizer& tokenizer,
    const std::function<void(const std::string&)>& note = [](const std::string&) {});

// SHA-256 of config.json as it is written.
std::string hash_of_config(const ModelConfig& config);

}  // namespace deberta::train
