// A thread, a bounded queue, and the first exception, which next() throws on.
#include "train/data/prefetch.h"

#include <utility>

namespace deberta::train {

Prefetch::Prefetch(Make make, uint64_t first_step, uint64_t end_step, size_t depth)
    : make_(std::move(make)), end_step_(end_step), depth_(depth), next_step_(first_step) {
  if (depth_ > 0) thread_ = std::thread([this] { run(); });
}

Prefetch::~Prefetch() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Prefetch::run() {
  for (uint64_t step = next_step_; step < end_step_; ++step) {
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return is_stopping_ || ready_.size() < depth_; });
      if (is_stopping_) return;
    }
    std::vector<TrainBatch> batches;
    std::exception_ptr problem;
    try {
      batches = make_(step);
    } catch (...) {
      problem = std::current_exception();
    }
    {
      const std::lock_guard lock(mutex_);
      problem_ = problem;
      if (!problem) ready_.push_back(std::move(batches));
    }
    changed_.notify_all();
    if (problem) return;
  }
}

std::optional<std::vector<TrainBatch>> Prefetch::next() {
  if (next_step_ >= end_step_) return std::nullopt;
  if (depth_ == 0) {
    std::vector<TrainBatch> batches = make_(next_step_);
    ++next_step_;
    return batches;
  }
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return !ready_.empty() || problem_; });
  if (ready_.empty()) std::rethrow_exception(problem_);
  std::vector<TrainBatch> batches = std::move(ready_.front());
  ready_.pop_front();
  ++next_step_;
  lock.unlock();
  changed_.notify_all();
  return batches;
}

}  // namespace deberta::train
