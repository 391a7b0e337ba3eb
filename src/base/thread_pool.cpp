// Workers, and the caller at the end of a region, spin for some microseconds and then sleep: a layer is many short
// regions one after the other, and a processor that others need must not be kept busy.
#include "base/thread_pool.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <chrono>
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
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

template <class Condition>
void spin_until(const Condition& is_met) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kLongest = std::chrono::microseconds(50);
  for (const auto end = Clock::now() + kLongest; Clock::now() < end;) {
    for (int i = 0; i < 16; ++i) {
      if (is_met()) return;
      pause();
    }
  }
}

constexpr size_t kCacheLine = 64;

}  // namespace

// Counters that several threads write have a cache line each.
struct ThreadPool::State {  // NOLINT(clang-analyzer-optin.performance.Padding)
  std::mutex caller;        // one parallel region at a time
  std::vector<std::thread> threads;

  // A region: written before `generation` goes up, read by workers after.
  size_t tasks = 0;
  Parallel::Task function = nullptr;
  void* argument = nullptr;
  bool stop = false;

  alignas(kCacheLine) std::atomic<uint32_t> generation{0};
  alignas(kCacheLine) std::atomic<size_t> next{0};
  alignas(kCacheLine) std::atomic<uint32_t> active{0};  // workers still inside the region

  std::mutex error_mutex;
  std::exception_ptr error;

  void take_tasks(size_t worker) {
    for (size_t task = next.fetch_add(1); task < tasks; task = next.fetch_add(1)) {
      try {
        function(argument, task, worker);
      } catch (...) {
        next.store(tasks);
        const std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
      }
    }
  }

  void work(size_t worker) {
    uint32_t seen = 0;
    for (;;) {
      spin_until([&] { return generation.load(std::memory_order_acquire) != seen; });
      generation.wait(seen, std::memory_order_acquire);
      ++seen;  // no region begins before this one has ended
      if (stop) return;
      take_tasks(worker);
      if (active.fetch_sub(1, std::memory_order_acq_rel) == 1) active.notify_one();
    }
  }

  void begin_region() {
    generation.fetch_add(1, std::memory_order_release);
    generation.notify_all();
  }

  void run(size_t task_count, Parallel::Task task_function, void* task_argument) {
    const std::lock_guard one_region(caller);
    tasks = task_count;
    function = task_function;
    argument = task_argument;
    error = nullptr;
    next.store(0, std::memory_order_relaxed);
    active.store(static_cast<uint32_t>(threads.size()), std::memory_order_relaxed);
    begin_region();
    take_tasks(0);
    spin_until([&] { return active.load(std::memory_order_acquire) == 0; });
    for (uint32_t left = active.load(std::memory_order_acquire); left != 0; left = active.load()) active.wait(left);
    if (error) std::rethrow_exception(std::exchange(error, nullptr));
  }
};

ThreadPool::ThreadPool(size_t threads) : state_(std::make_unique<State>()) {
  try {
    for (size_t i = 1; i < threads; ++i) state_->threads.emplace_back([this, i] { state_->work(i); });
  } catch (const std::system_error&) {
    // Fewer threads than requested: slower, but still correct.
  }
}

ThreadPool::~ThreadPool() {
  state_->stop = true;
  state_->begin_region();
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
