// One micro-batch of fine-tuning: packed sequences, and the targets of a head. Made by train/data, read by
// objectives/task.h; no padding, no tensors, no torch.
// B sequences  P rows  C classes  M mentions  Q questions
#pragma once
#include <cstdint>
#include <vector>

#include "deberta/model.h"
#include "train/objectives/batch.h"

namespace deberta::train {

// What is learnt, and so the head and its loss (model-training.md#fine-tuning).
enum class TaskLoss {
  kClass,    // a class of each sequence: cross-entropy; a head on sequences
  kScore,    // one or several numbers for each sequence: squared error; a head on sequences
  kLabels,   // any number of classes of each sequence: binary cross-entropy; a head on sequences
  kTokens,   // a class of some rows: cross-entropy; a head on tokens
  kSpan,     // the first and the last token of an answer in each sequence: two cross-entropies; a head of spans
  kChoice,   // which of a question's sequences: cross-entropy over them; a head on sequences with one class
  kRanking,  // how a query's documents are ordered: RankingLoss; a head on sequences with one class
  kMention,  // which mentions in each sequence are right: binary cross-entropy; the original token head with one class
  kExtraction,  // which spans are entities of the labels before a text: binary cross-entropy; a head of entities
};

// The loss of kRanking (objectives/ranking.h).
enum class RankingLoss { kPointwise, kPairwise, kListwise, kMarginMse };

// An entity of a sequence, by its words, the last one included, and by which of the labels before them it has.
struct EntityTarget {
  int32_t sequence = 0;
  int32_t first = 0, last = 0;
  int32_t label = 0;
};

// Only what `loss` needs is set.
struct TaskBatch {
  TrainBatch input;  // kTokens: rows_P and labels_P are rows and their classes; otherwise both are empty

  std::vector<int32_t> classes_B;  // kClass; below 0: does not count
  // kScore; kLabels: 0 or 1; kClass instead of classes_B: distributions; kRanking: the relevance of each document
  // (C = 1), at least 0.
  std::vector<float> values_BC;
  std::vector<float> weights_B;          // kClass, kScore, kLabels: of the sequences, above 0; empty: 1
  std::vector<int32_t> first_B, last_B;  // kSpan: packed rows, in their sequence; without an answer: its row of [CLS]

  std::vector<int32_t> questions;  // kChoice, kRanking: first sequence of each, as `starts` [Q + 1]
  std::vector<int32_t> right_Q;    // kChoice: the right choice, from 0; below 0: does not count

  std::vector<float> teacher_B;  // kRanking, RankingLoss::kMarginMse: a teacher's score of each document

  std::vector<int32_t> mentions;      // kMention: where the rows of each begin in mention_rows, as `starts` [M + 1]
  std::vector<int32_t> mention_rows;  // packed rows of the pieces of all mentions, mention by mention
  std::vector<int32_t> mention_sequences_M;  // the sequence of each, ascending
  std::vector<float> right_M;                // 0 or 1

  std::vector<LabelledWords> words_B;  // kExtraction: packed rows of labels and words
  std::vector<EntityTarget> entities;  // kExtraction: those that are right, each once; others are wrong
};

}  // namespace deberta::train
