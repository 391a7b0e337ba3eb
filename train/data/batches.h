// The batches of a training step: a function of the options, the corpora and the step's number, so that a run can go on
// at any step without a state.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "train/data/masking.h"
#include "train/data/sources.h"
#include "train/data/step_plan.h"
#include "train/objectives/batch.h"

namespace deberta::train {

constexpr size_t kFewestPieces = 3;  // in a sequence that a sample is cut into; the last one may have fewer

// What is predicted. kNext: the piece that follows, at every row but the last of a sequence.
enum class Prediction : uint8_t { kMasked, kNext };

struct BatchOptions {
  uint64_t seed = 1234;
  size_t tokens_per_step = 16384;
  size_t micro_batch_tokens = 16384;  // tokens of a micro-batch at most, but at least one sample
  std::vector<LengthStage> stages = {{}};
  Prediction prediction = Prediction::kMasked;
  MaskOptions masks = {};
  // The share of the samples that are cut into sequences of at most n pieces, with n drawn from kFewestPieces to the
  // length of the stage, evenly in log n. A sample keeps its pieces, and has more [CLS] and [SEP].
  double short_share = 0;
  double source_exponent = 1;
};

class Batches {
 public:
  // `pieces` must outlive this object, as must the files of the sources. Throws like StepPlan, Sources and Masker.
  Batches(std::vector<Source> sources, const Pieces& pieces, const BatchOptions& options);

  // The micro-batches of a step, in order. Not thread-safe.
  std::vector<TrainBatch> make(uint64_t step);

  const StepPlan& plan() const { return plan_; }
  const Sources& sources() const { return sources_; }
  // The origin of sample plan().at(step).first + index, number `index` of a step.
  SampleOrigin origin(uint64_t step, size_t index);

 private:
  // The most pieces that a sequence of the sample may have.
  size_t most_pieces(uint64_t sample, size_t max_tokens) const;
  void append_sample(uint64_t step, size_t index, TrainBatch& batch);
  void predict(std::span<int32_t> ids, int32_t begin, SequenceNumber number, TrainBatch& batch) const;

  BatchOptions options_;
  StepPlan plan_;
  Sources sources_;
  Masker masker_;
  uint64_t cut_key_;
};

}  // namespace deberta::train
