// Fine-tuning (model-training.md#fine-tuning): the logits of a head for a batch, and their loss. The batch has what is
// to be learnt (objectives/task_batch.h), the model's form has the head for it (objectives/task_check.h).
// N rows  C classes
#pragma once
#include <vector>

#include "train/model/model.h"
#include "train/objectives/extraction.h"
#include "train/objectives/loss.h"
#include "train/objectives/task_batch.h"

namespace deberta::train {

struct TaskOptions {
  TaskLoss loss = TaskLoss::kClass;
  double label_smoothing = 0;  // kClass, kTokens, kSpan, kChoice: share of each label that is spread evenly; below 1
  std::vector<float> class_weights_C = {};       // kClass, kTokens: of a label's class, above 0; empty: 1
  RankingLoss ranking = RankingLoss::kPairwise;  // kRanking
  FocalOptions focal = {};                       // kExtraction
};

struct TaskLogits {
  // A row for each sequence (kClass, kScore, kLabels, kChoice, kRanking), row of the batch (kTokens), token that is not
  // masked (kSpan, columns first and last), mention (kMention), span or word with each label (kExtraction).
  at::Tensor logits_NC;
  // kSpan: the rows of each sequence, as `starts`; kChoice, kRanking: of each question.
  std::vector<int32_t> groups = {};
  std::vector<float> targets_NC = {};  // kExtraction: 1 where an entity is right, else 0
};

// From the summed embeddings on. The batch fits.
TaskLogits task_logits(const Pass& pass, const Model& model, TaskLoss loss, const TaskBatch& batch,
                       const at::Tensor& sum_TD);

// The count of a loss: sequences, rows, sequences, questions that have a label; of kScore and kLabels every score and
// label of each sequence, of kMention mentions with pieces, of kRanking what its loss counts, of kExtraction
// every score; its mean is that over sequences (objectives/extraction.h). Those without a label
// add no loss and no gradient.
Loss task_loss(const TaskLogits& logits, const TaskBatch& batch, const TaskOptions& options);

// All of it. Throws what check_task(), check_batch() and make_pass() throw.
Loss task_loss(const Model& model, const Compute& compute, const TaskBatch& batch, const TaskOptions& options,
               const DropoutStream& dropout);

}  // namespace deberta::train
