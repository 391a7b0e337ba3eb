// Threads that read texts and write answers, beside the one that computes. Clients share them equally, by the time that
// their work took (start-time fair queueing). Some threads do small work alone, so that it does not wait for large work
// to end.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace deberta::serve {

enum class WorkSize { kSmall, kLarge };

class WorkPool {
 public:
  explicit WorkPool(size_t threads, size_t threads_for_small = 0);
  ~WorkPool();  // runs what was posted, then ends
  WorkPool(const WorkPool&) = delete;
  WorkPool& operator=(const WorkPool&) = delete;

  // `job` throws nothing.
  void post(const std::string& client, WorkSize size, std::function<void()> job);
  void post(std::function<void()> job) { post({}, WorkSize::kLarge, std::move(job)); }

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace deberta::serve
