// A generator and a discriminator of replaced-token detection as a run trains them: perhaps the generator alone first,
// then both. Files: two model folders, `generator` and `discriminator`; the latter has whole tables and, where it is
// trained as a difference, that too (`_weight`), with which a run goes on.
#pragma once
#include <memory>

#include "deberta/tokenizer.h"
#include "train/pretrain/settings.h"
#include "train/run/learner.h"
#include "train/step/workplace.h"

namespace deberta::train {

// Nothing once stopped. All arguments outlive the result. Throws what first_pair() and BatchStream::open() do, kUsage
// for a run that trains nothing but the generator.
std::unique_ptr<Learner> make_pair_learner(const PretrainSettings& settings, const Tokenizer& tokenizer,
                                           const Workplace& workplace, const RunHooks& hooks);

}  // namespace deberta::train
