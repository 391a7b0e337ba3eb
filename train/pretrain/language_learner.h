// A language model, masked or causal, as a run trains it.
#pragma once
#include <memory>

#include "deberta/tokenizer.h"
#include "train/pretrain/settings.h"
#include "train/run/learner.h"
#include "train/step/workplace.h"

namespace deberta::train {

// Nothing once stopped. All arguments outlive the result. Throws what first_model() and BatchStream::open() do.
std::unique_ptr<Learner> make_language_learner(const PretrainSettings& settings, const Tokenizer& tokenizer,
                                               const Workplace& workplace, const RunHooks& hooks);

}  // namespace deberta::train
