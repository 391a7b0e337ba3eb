// Batches made ahead of their use by one thread. What is made does not depend on how far ahead.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "train/objectives/batch.h"

namespace deberta::train {

class Prefetch {
 public:
  // make(step) returns the micro-batches of a step; it is called for each step from first_step to end_step - 1, in
  // order, by one thread at a time. At most `depth` steps wait to be taken; 0: no thread, next() makes them.
  using Make = std::function<std::vector<TrainBatch>(uint64_t step)>;
  Prefetch(Make make, uint64_t first_step, uint64_t end_step, size_t depth = 4);
  // Stops after the step being made.
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  // The batches of the next step; nothing after the last. Rethrows what `make` threw, at that step and from then on.
  std::optional<std::vector<TrainBatch>> next();

 private:
  void run();

  Make make_;
  uint64_t end_step_;
  size_t depth_;
  uint64_t next_step_;  // the step that next() returns
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::vector<TrainBatch>> ready_;
  std::exception_ptr problem_;
  bool is_stopping_ = false;
  std::thread thread_;
};

}  // namespace deberta::train
