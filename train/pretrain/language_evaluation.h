// A language model in training on held-out documents, as `deberta eval` scores the same model on the same lines.
#pragma once
#include "train/pretrain/corpora.h"
#include "train/run/hooks.h"
#include "train/run/learner.h"
#include "train/step/workplace.h"
#include "train/model/model.h"

namespace deberta::train {

// Nothing without held-out documents, and once stopped.
Metrics evaluate_language_model(Model& model, const PretrainSettings& settings, const Corpora& corpora,
                                EvaluationPart part, const Workplace& place, const RunHooks& hooks);

}  // namespace deberta::train
