// A language model in training on held-out documents, as `deberta eval` scores the same model on the same lines.
#pragma once
#include "eval/held_out_rows.h"
#include "train/model/model.h"
#include "train/pretrain/corpora.h"
#include "train/pretrain/settings.h"
#include "train/run/hooks.h"
#include "train/run/learner.h"
#include "train/step/workplace.h"

namespace deberta::train {

// What an evaluation of that part reads; `every` is 0 where no document is held out.
HeldOutLines held_out_lines(const CorpusSettings& settings, const Corpora& corpora, EvaluationPart part);

// Nothing without held-out documents, and once stopped.
Metrics evaluate_language_model(Model& model, const ModelStart& start, const HeldOutLines& lines,
                                const Workplace& workplace, const RunHooks& hooks);

}  // namespace deberta::train
