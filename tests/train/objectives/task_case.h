// A tiny model and items to learn for every kind of fine-tuning. An item is what can stand in a batch alone: a
// sequence, or a question with its choices.
#pragma once
#include <string>
#include <vector>

#include "train/model/model_case.h"
#include "train/objectives/task.h"

namespace deberta::test {

using train::TaskBatch;
using train::TaskLoss;

struct TaskCase {
  std::string name;
  TaskLoss loss;
  Head head;
  int64_t labels;
  bool has_distributions = false;  // kClass
};

inline std::vector<TaskCase> task_cases() {
  return {
      {"class", TaskLoss::kClass, Head::kSequence, 3},  {"distribution", TaskLoss::kClass, Head::kSequence, 3, true},
      {"score", TaskLoss::kScore, Head::kSequence, 1},  {"labels", TaskLoss::kLabels, Head::kSequence, 3},
      {"tokens", TaskLoss::kTokens, Head::kToken, 3},   {"tokens_original", TaskLoss::kTokens, Head::kTokenOriginal, 3},
      {"span", TaskLoss::kSpan, Head::kSpan, 2},        {"choice", TaskLoss::kChoice, Head::kSequence, 1},
      {"scores", TaskLoss::kScore, Head::kSequence, 3}, {"mention", TaskLoss::kMention, Head::kTokenOriginal, 1}};
}

inline ModelForm form_of(const TaskCase& task, bool has_fast_heads = false) {
  ModelForm form;
  form.config = has_fast_heads ? with_fast_heads() : tiny_config();
  form.head = task.head;
  form.labels = task.labels;
  return form;
}

// 4 to 10 tokens; every other sequence has a masked token.
inline int32_t add_sequence(TaskBatch& batch, uint32_t number) {
  train::TrainBatch& input = batch.input;
  if (input.starts.empty()) input.starts.push_back(0);
  const int32_t begin = input.starts.back();
  for (const int32_t id : make_ids(number + 1, 4 + 3 * number % 7)) {
    input.ids_T.push_back(id);
    input.mask_T.push_back(1);
  }
  if (number % 2 == 1) input.mask_T[static_cast<size_t>(begin) + 1] = 0;
  input.starts.push_back(static_cast<int32_t>(input.ids_T.size()));
  input.longest = std::max(input.longest, input.starts.back() - begin);
  return begin;
}

// Mentions of one piece, of two and of none.
inline void add_mentions(TaskBatch& batch, int32_t begin, uint32_t number) {
  if (batch.mentions.empty()) batch.mentions.push_back(0);
  for (const std::vector<int32_t>& pieces : {std::vector<int32_t>{3}, {}, {0, 2, 3}}) {
    for (const int32_t piece : pieces) batch.mention_rows.push_back(begin + piece);
    batch.mentions.push_back(static_cast<int32_t>(batch.mention_rows.size()));
    batch.mention_sequences_M.push_back(static_cast<int32_t>(batch.input.sequences()) - 1);
    batch.right_M.push_back(static_cast<float>((pieces.size() + number) % 2));
  }
}

inline void add_question(TaskBatch& batch, uint32_t number, uint32_t first_sequence) {
  if (batch.questions.empty()) batch.questions.push_back(0);
  for (uint32_t choice = 0; choice < 2 + number % 2; ++choice) add_sequence(batch, first_sequence + choice);
  batch.questions.push_back(static_cast<int32_t>(batch.input.sequences()));
  batch.right_Q.push_back(number == 2 ? -1 : 1);
}

inline void add_item(TaskBatch& batch, const TaskCase& task, uint32_t number) {
  if (task.loss == TaskLoss::kChoice) return add_question(batch, number, 2 * number + number / 2);
  const int32_t begin = add_sequence(batch, number), last = batch.input.starts.back() - 1;
  const auto turn = static_cast<int32_t>(number % 4) - 1;  // item 0 has no class
  if (task.has_distributions) {
    for (const float value : {0.5f, 0.25f, 0.25f}) batch.values_BC.push_back(value);
  } else if (task.loss == TaskLoss::kClass) {
    batch.classes_B.push_back(turn);
  } else if (task.loss == TaskLoss::kScore) {
    for (int64_t c = 0; c < task.labels; ++c) batch.values_BC.push_back(0.75f * static_cast<float>(turn + c));
  } else if (task.loss == TaskLoss::kLabels) {
    for (uint32_t c = 0; c < 3; ++c) batch.values_BC.push_back(static_cast<float>((number + c) % 2));
  } else if (task.loss == TaskLoss::kTokens) {
    for (const int32_t row : {begin, begin + 2, last}) {
      batch.input.rows_P.push_back(row);
      batch.input.labels_P.push_back((row - begin + turn) % 3);
    }
  } else if (task.loss == TaskLoss::kSpan) {
    batch.first_B.push_back(number == 0 ? begin : begin + 2);
    batch.last_B.push_back(number == 0 ? begin : last);
  } else {
    add_mentions(batch, begin, number);
  }
}

// Items `first` to `first + count - 1`.
inline TaskBatch make_task(const TaskCase& task, uint32_t first, uint32_t count) {
  TaskBatch batch;
  batch.input.first_sequence = task.loss == TaskLoss::kChoice ? 2 * first + first / 2 : first;
  for (uint32_t number = first; number < first + count; ++number) add_item(batch, task, number);
  return batch;
}

}  // namespace deberta::test
