// A language model in training on held-out documents, as `deberta eval` scores the same model on the same lines.
#pragma once
#include "train/loop/corpora.h"
#include "train/loop/hooks.h"
#include "train/loop/learner.h"
#include "train/loop/workplace.h"
#include "train/model/model.h"

namespace deberta::train {

// Nothing without held-out documents, and once stopped.
Metrics evaluate_language_model(Model& model, const PretrainSettings& settings, const Corpora& corpora,
                                EvaluationPart part, const Workplace& place, const RunHooks& hooks);

}  // namespace deberta::train
