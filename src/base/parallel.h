// How a kernel uses threads without knowing who owns them: the engine passes its pool, a training op torch's.
#pragma once
#include <cstddef>
#include <type_traits>

namespace deberta {

// run(context, tasks, function, argument) calls function(argument, task, worker) once for each task in [0, tasks),
// from at most `workers` threads at once, worker in [0, workers), and returns when all are done.
struct Parallel {
  using Task = void (*)(void* argument, size_t task, size_t worker);
  void* context = nullptr;
  void (*run)(void* context, size_t tasks, Task function, void* argument) = nullptr;
  size_t workers = 1;
};

// On the calling thread, in order.
inline void run_serially(void*, size_t tasks, Parallel::Task function, void* argument) {
  for (size_t task = 0; task < tasks; ++task) function(argument, task, 0);
}
inline Parallel serial() {
  return {nullptr, run_serially, 1};
}

// parallel_for(parallel, n, [&](size_t task, size_t worker) {...})
template <class Function>
void parallel_for(const Parallel& parallel, size_t tasks, Function&& function) {
  using Stored = std::remove_reference_t<Function>;
  parallel.run(
      parallel.context, tasks,
      [](void* argument, size_t task, size_t worker) { (*static_cast<Stored*>(argument))(task, worker); },
      const_cast<void*>(static_cast<const void*>(&function)));
}

}  // namespace deberta
