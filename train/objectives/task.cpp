// Maps each kind of task to the rows that its head reads and to its loss.
#include "train/objectives/task.h"

#include <ATen/TensorOperators.h>

#include <algorithm>

#include "train/objectives/language_model.h"
#include "train/objectives/mentions.h"
#include "train/objectives/ranking.h"
#include "train/objectives/task_check.h"
#include "train/objectives/task_losses.h"

namespace deberta::train {
namespace {

constexpr double kNoMention = -10000;  // the original's logit of a mention without pieces

// Packed rows of all tokens that are not masked, and where those of each sequence begin among them.
struct RealRows {
  std::vector<int32_t> rows_N, starts = {0};
};
RealRows real_rows(const TrainBatch& input) {
  RealRows real;
  for (size_t b = 0; b < input.sequences(); ++b) {
    for (int32_t t = input.starts[b]; t < input.starts[b + 1]; ++t) {
      if (input.mask_T.empty() || input.mask_T[static_cast<size_t>(t)] != 0) real.rows_N.push_back(t);
    }
    real.starts.push_back(static_cast<int32_t>(real.rows_N.size()));
  }
  return real;
}

at::Tensor logits_of_rows(const Pass& pass, const Model& model, const at::Tensor& hidden_TD,
                          std::span<const int32_t> rows_N) {
  return token_logits(pass, model.head, take_rows(hidden_TD, rows_N), *choose_rows(*pass.tokens, rows_N));
}

std::vector<int32_t> present_mentions(const TaskBatch& batch) {
  std::vector<int32_t> present;
  for (size_t m = 0; m + 1 < batch.mentions.size(); ++m) {
    if (batch.mentions[m + 1] > batch.mentions[m]) present.push_back(static_cast<int32_t>(m));
  }
  return present;
}

at::Tensor mention_logits(const Pass& pass, const Model& model, const TaskBatch& batch, const at::Tensor& hidden_TD) {
  const at::Tensor states_MD = mention_states(pass, batch, hidden_TD);
  const at::Tensor logits_M1 = token_logits(pass, model.head, states_MD, *mention_rows(batch));
  std::vector<int32_t> pieces_M;
  for (size_t m = 0; m + 1 < batch.mentions.size(); ++m) pieces_M.push_back(batch.mentions[m + 1] - batch.mentions[m]);
  return logits_M1.masked_fill(to_index(pieces_M, hidden_TD).eq(0).unsqueeze(1), kNoMention);
}

// First and last token of each answer, as numbers among the real tokens of its sequence.
std::vector<int32_t> span_labels(const TaskBatch& batch) {
  const RealRows real = real_rows(batch.input);
  std::vector<int32_t> labels_B2;
  for (size_t b = 0; b < batch.first_B.size(); ++b) {
    const auto begin = real.rows_N.begin() + real.starts[b];
    for (const int32_t row : {batch.first_B[b], batch.last_B[b]}) {
      labels_B2.push_back(static_cast<int32_t>(std::lower_bound(begin, real.rows_N.end(), row) - begin));
    }
  }
  return labels_B2;
}

// A mention without pieces has no loss.
Loss mention_loss(const at::Tensor& logits_M1, const TaskBatch& batch) {
  const std::vector<int32_t> present = present_mentions(batch);
  std::vector<float> right;
  for (const int32_t m : present) right.push_back(batch.right_M[static_cast<size_t>(m)]);
  return binary_loss(take_rows(logits_M1, present), right);
}

}  // namespace

TaskLogits task_logits(const Pass& pass, const Model& model, TaskLoss loss, const TaskBatch& batch,
                       const at::Tensor& sum_TD) {
  const bool reads_sequences = loss != TaskLoss::kTokens && loss != TaskLoss::kSpan && loss != TaskLoss::kMention &&
                               loss != TaskLoss::kExtraction;
  if (reads_sequences) {
    const at::Tensor pooled_BD = pooled_states(pass, model, sum_TD);
    return {sequence_logits(pass, model.head, pooled_BD), batch.questions};
  }
  const at::Tensor hidden_TD = encode(pass, model, sum_TD).hidden_TD.back();
  if (loss == TaskLoss::kTokens) return {logits_of_rows(pass, model, hidden_TD, batch.input.rows_P)};
  if (loss == TaskLoss::kMention) return {mention_logits(pass, model, batch, hidden_TD)};
  if (loss == TaskLoss::kExtraction)
    return {.logits_NC = entity_logits(pass, model.head.entities, hidden_TD, batch.words_B),
            .targets_NC = entity_targets(*model.form.config.extraction, batch)};
  const RealRows real = real_rows(batch.input);
  return {logits_of_rows(pass, model, hidden_TD, real.rows_N), real.starts};
}

Loss task_loss(const TaskLogits& logits, const TaskBatch& batch, const TaskOptions& options) {
  const at::Tensor& logits_NC = logits.logits_NC;
  const double smoothing = options.label_smoothing;
  const ClassOptions of_classes{smoothing, options.class_weights_C, batch.weights_B};
  switch (options.loss) {
    case TaskLoss::kClass:
      if (!batch.values_BC.empty()) return soft_class_loss(logits_NC, batch.values_BC, of_classes);
      return class_loss(logits_NC, batch.classes_B, of_classes);
    case TaskLoss::kScore:
      return regression_loss(logits_NC, batch.values_BC, batch.weights_B);
    case TaskLoss::kLabels:
      return binary_loss(logits_NC, batch.values_BC, batch.weights_B);
    case TaskLoss::kTokens:
      return class_loss(logits_NC, batch.input.labels_P, of_classes);
    case TaskLoss::kSpan:
      return group_loss(logits_NC, logits.groups, span_labels(batch), smoothing);
    case TaskLoss::kChoice:
      return group_loss(logits_NC, logits.groups, batch.right_Q, smoothing);
    case TaskLoss::kRanking:
      return ranking_loss(logits_NC, {logits.groups, batch.values_BC, batch.teacher_B}, options.ranking);
    case TaskLoss::kMention:
      return mention_loss(logits_NC, batch);
    case TaskLoss::kExtraction:
      return extraction_loss(logits_NC, logits.targets_NC, batch.input.sequences(), options.focal);
  }
  return {};
}

Loss task_loss(const Model& model, const Compute& compute, const TaskBatch& batch, const TaskOptions& options,
               const DropoutStream& dropout) {
  check_task(model.form, options);
  check_batch(model.form, batch, options.loss);
  const Pass pass = make_pass(model, compute, input_of(batch.input), dropout);
  const at::Tensor sum_TD = sum_embeddings(pass, model.embeddings);
  return task_loss(task_logits(pass, model, options.loss, batch, sum_TD), batch, options);
}

}  // namespace deberta::train
