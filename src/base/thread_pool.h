// A fixed set of worker threads. One per process; not nested.
#pragma once
#include <cstddef>
#include <memory>

#include "base/parallel.h"

namespace deberta {

class ThreadPool {
 public:
  // `threads` counts the calling thread, which works too: 1 starts none.
  explicit ThreadPool(size_t threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t threads() const;

  // Tasks are taken from one counter in ascending order. The first exception that a task throws is rethrown here, after
  // all workers have stopped; tasks not yet begun are then skipped. One call at a time; others wait.
  Parallel parallel();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The processors this process may use: its affinity mask, cut by the cgroup's quota, at least 1.
size_t usable_processors();

}  // namespace deberta
