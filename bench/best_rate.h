// What the kernel benchmarks report: the fastest of all calls on one thread, in CPU time, against the peak of the same
// core, measured in the same run. Compare only rows of one run.
#pragma once
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>

#include "kernels/peak.h"
#include "support/implementations.h"

namespace deberta::bench {

inline double seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Calls once per iteration; sets the counters best_us, gflops, and of_peak, the share of the instruction's peak.
template <class Call>
void count_best(benchmark::State& state, double operations, double peak, Call&& call) {
  double best = 1e9;
  for (auto _ : state) {
    const double start = seconds();
    call();
    best = std::min(best, seconds() - start);
  }
  state.counters["best_us"] = 1e6 * best;
  state.counters["gflops"] = 1e-9 * operations / best;
  state.counters["of_peak"] = operations / best / peak;
}

inline double peak_of(const test::Implementation& one) {
  return measure_peak(one.precision, one.level, serial());
}

}  // namespace deberta::bench
