#include "serve/work_pool.h"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace deberta::serve {

struct WorkPool::State {
  void run() {
    std::unique_lock lock(mutex);
    while (true) {
      changed.wait(lock, [this] { return is_stopped || !jobs.empty(); });
      if (jobs.empty()) return;
      const std::function<void()> job = std::move(jobs.front());
      jobs.pop_front();
      lock.unlock();
      job();
      lock.lock();
    }
  }

  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::function<void()>> jobs;
  bool is_stopped = false;
  std::vector<std::thread> threads;
};

WorkPool::WorkPool(size_t threads) : state_(std::make_unique<State>()) {
  for (size_t i = 0; i < threads; ++i) state_->threads.emplace_back([state = state_.get()] { state->run(); });
}

WorkPool::~WorkPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->is_stopped = true;
  }
  state_->changed.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

void WorkPool::post(std::function<void()> job) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->jobs.push_back(std::move(job));
  }
  state_->changed.notify_one();
}

}  // namespace deberta::serve
