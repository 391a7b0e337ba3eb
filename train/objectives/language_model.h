// Language modelling (model-training.md#masked-words, model-training.md#causal-language-model): cross-entropy of the
// words at the rows to predict.
//   masked   rows are masked positions, labels their own ids; through the mask decoder where the form has one
//   causal   rows are any tokens, labels the ids that follow them; the form is causal
// Trained: the whole model, which for this head has no pooler, and no absolute table unless something reads it.
#pragma once
#include "train/model/model.h"
#include "train/objectives/batch.h"
#include "train/objectives/loss.h"
#include "train/ops/cross_entropy.h"

namespace deberta::train {

// Where the model reads the batch.
ModelInput input_of(const TrainBatch& batch);

// Both kinds: the batch has the rows and labels. Throws kInput (rows not ascending or outside the pack, labels
// outside the vocabulary), and what make_pass() throws.
Loss language_model_loss(Model& model, const Compute& compute, const TrainBatch& batch, const DropoutStream& dropout);

// The same as an operation's result, with a word for each row where there is a draw.
CrossEntropy predict_words(Model& model, const Compute& compute, const TrainBatch& batch, const DropoutStream& dropout,
                           const WordDraw* draw = nullptr);

// Every token but the last of each sequence, and the id that follows it, as the rows and labels of `batch`.
void predict_next_tokens(TrainBatch& batch);

}  // namespace deberta::train
