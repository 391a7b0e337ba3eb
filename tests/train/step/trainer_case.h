// A small model and batches for tests of steps.
#pragma once
#include <cstdint>

#include "train/model/parameters.h"
#include "train/objectives/batch.h"
#include "train/pretrain/new_model.h"

namespace deberta::test {

inline train::Model small_model(Head head, uint64_t seed, int64_t labels = 0) {
  train::Model model =
      train::make_model({.config = train::new_config({.overrides = {"num_hidden_layers=2", "hidden_size=16",
                                                                    "num_attention_heads=2", "position_buckets=8"},
                                                      .vocab_size = 40}),
                         .head = head,
                         .labels = labels});
  train::initialise(model, seed);
  return model;
}

// Sequences of 8 tokens, two of them to predict: the labels are the ids that stand there.
inline train::TrainBatch small_batch(uint32_t first, uint32_t sequences) {
  train::TrainBatch batch;
  batch.starts.push_back(0);
  batch.first_sequence = first;
  batch.longest = 8;
  for (uint32_t b = first; b < first + sequences; ++b) {
    const auto begin = static_cast<int32_t>(batch.ids_T.size());
    for (uint32_t t = 0; t < 8; ++t) batch.ids_T.push_back(static_cast<int32_t>(4 + (7 * b + 3 * t) % 36));
    for (const int32_t row : {2, 5}) {
      batch.rows_P.push_back(begin + row);
      batch.labels_P.push_back(batch.ids_T[static_cast<size_t>(begin + row)]);
    }
    batch.starts.push_back(static_cast<int32_t>(batch.ids_T.size()));
  }
  return batch;
}

}  // namespace deberta::test
