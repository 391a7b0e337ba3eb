// The files of a replay (replay_run.h): the batches that it reads, and the results that it writes.
#pragma once
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "deberta/checkpoint.h"
#include "train/objectives/batch.h"

namespace deberta::train {

// The batch of a step that has input_ids. Padding at both ends is left out; a hole stays as a masked token. rows_T:
// where each packed token is in [B, L]. Throws kInput.
struct ReplayBatch {
  TrainBatch batch;
  std::vector<int32_t> rows_T;
};
ReplayBatch read_inputs(const Checkpoint& file, const std::string& path, const std::string& step);
// The same with labels [B, L] as what is to be predicted.
ReplayBatch read_step(const Checkpoint& file, const std::string& path, const std::string& step);

// Integers of the shape of the step's input_ids. Empty when the file has no such tensor. Throws kInput.
std::vector<int32_t> read_integers(const Checkpoint& file, const std::string& path, const std::string& step,
                                   const std::string& name);

// What steps leave, with memory of its own.
class ReplayResults {
 public:
  void add(const std::string& name, const Shape& shape, std::span<const float> values);
  void add(const std::string& name, double value);  // a tensor of shape [1]
  void write(const std::string& path) const;

 private:
  std::deque<std::vector<float>> values_;
  std::vector<TensorView> views_;
};

}  // namespace deberta::train
