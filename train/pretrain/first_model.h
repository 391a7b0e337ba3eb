// The model that a run begins with.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "deberta/tokenizer.h"
#include "train/model/model.h"
#include "train/model/parameters.h"
#include "train/pretrain/settings.h"

namespace deberta::train {

using Note = std::function<void(const std::string&)>;  // gets what a person should know

// What the first weights depend on besides the settings of the model.
struct Beginning {
  size_t longest = 0;  // sequence of the run, in tokens: the model has positions for it
  uint64_t seed = 0;   // seed of new weights
  Note note = [](const std::string&) {};
};

// Throws kUsage for sequences longer than the model's positions, kTokenId for a tokenizer with more ids than the model,
// and what new_config() throws.
ModelForm form_of_run(const ModelStart& start, size_t longest, const Tokenizer& tokenizer);

// Which row of the tables in `start.model_folder` each piece of the run's tokenizer begins with. `note` gets the
// tokens that the run adds, and new tables. Throws what word_rows() does.
WordRows rows_of_run(const ModelStart& start, const Tokenizer& tokenizer, const Note& note);

// What a run takes of `start.model_folder` other than a reader of the folder would expect: a generator, what is dropped
// of a pair, a new head, and which head predicts words.
std::vector<std::string> notes_of_base(const ModelStart& start);

// Random weights, or those of `start.model_folder`; a head that it lacks is random. Throws what rows_of_run() and
// load_parameters() do.
Model first_model(const ModelStart& start, const Tokenizer& tokenizer, const Beginning& beginning);

}  // namespace deberta::train
