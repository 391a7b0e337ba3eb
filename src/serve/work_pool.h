// Threads that read texts and write answers, beside the one that computes.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>

namespace deberta::serve {

class WorkPool {
 public:
  explicit WorkPool(size_t threads);
  ~WorkPool();  // runs what was posted, then ends
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  void post(std::function<void()> job);  // which throws nothing

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace deberta::serve
