// Workers spin for some microseconds, then sleep on a condition variable.
#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/file.h"
#include "deberta/error.h"

namespace deberta {
namespace {

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

struct ThreadPool::State {
  std::mutex caller;  // one parallel region at a time
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
  std::vector<std::thread> threads;

  std::atomic<uint64_t> generation{0};
  bool stop = false;
  size_t active = 0;  // workers still inside the current region

  size_t tasks = 0;
  Parallel::Task function = nullptr;
  void* argument = nullptr;
  std::atomic<size_t> next{0};
  std::exception_ptr error;

  void take_tasks(size_t worker) {
    for (size_t task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) {
      try {
        function(argument, task, worker);
      } catch (...) {
        next.store(tasks);
        const std::lock_guard lock(mutex);
        if (!error) error = std::current_exception();
      }
    }
  }

  void work(size_t worker) {
    uint64_t seen = 0;
    for (;;) {
      for (int spin = 0; spin < 2000 && generation.load(std::memory_order_acquire) == seen; ++spin) {
        pause();
      }
      {
        std::unique_lock lock(mutex);
        wake.wait(lock, [&] { return stop || generation.load() != seen; });
        if (stop) return;
        seen = generation.load();
      }
      take_tasks(worker);
      const std::lock_guard lock(mutex);
      if (--active == 0) done.notify_one();
    }
  }

  void run(size_t task_count, Parallel::Task task_function, void* task_argument) {
    const std::lock_guard one_region(caller);
    {
      const std::lock_guard lock(mutex);
      tasks = task_count;
      function = task_function;
      argument = task_argument;
      next.store(0);
      error = nullptr;
      active = threads.size();
      generation.fetch_add(1, std::memory_order_release);
    }
    wake.notify_all();
    take_tasks(0);
    std::unique_lock lock(mutex);
    done.wait(lock, [&] { return active == 0; });
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
  }
};

ThreadPool::ThreadPool(size_t threads) : state_(std::make_unique<State>()) {
  try {
    for (size_t i = 1; i < threads; ++i) state_->threads.emplace_back([this, i] { state_->work(i); });
  } catch (const std::system_error&) {
    // Fewer threads than asked for: slower, and still right.
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
    state_->generation.fetch_add(1);
  }
  state_->wake.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

size_t ThreadPool::threads() const {
  return state_->threads.size() + 1;
}

Parallel ThreadPool::parallel() {
  return {state_.get(),
          [](void* context, size_t tasks, Parallel::Task function, void* argument) {
            State& state = *static_cast<State*>(context);
            if (tasks <= 1 || state.threads.empty()) return run_serially(nullptr, tasks, function, argument);
            state.run(tasks, function, argument);
          },
          threads()};
}

namespace {

// cgroup v2 "max 100000" or "50000 100000": quota and period in microseconds. 0: no limit.
size_t cgroup_processors() {
  try {
    const std::string text = read_file("/sys/fs/cgroup/cpu.max", 4096);
    const size_t space = text.find(' ');
    const size_t end = text.find('\n');
    const auto quota = parse_number<uint64_t>(std::string_view(text).substr(0, space));
    const auto period = parse_number<uint64_t>(std::string_view(text).substr(space + 1, end - space - 1));
    if (!quota || !period || *period == 0) return 0;
    return std::max<size_t>(1, *quota / *period);
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace

size_t usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  size_t count = ::sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<size_t>(CPU_COUNT(&set)) : 1;
  if (const size_t quota = cgroup_processors(); quota > 0) count = std::min(count, quota);
  return std::max<size_t>(1, count);
}

}  // namespace deberta
