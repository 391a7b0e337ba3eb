// The fastest of several short runs on all workers at once.
#include "kernels/peak.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "kernels/peak_kernel.h"

namespace deberta {
namespace {

constexpr int kRuns = 8;

const PeakKernel* peak_kernel(Precision precision, KernelLevel level) {
#if DEBERTA_HAS_X86
  switch (level) {
    case KernelLevel::kReference:
      return nullptr;
    case KernelLevel::kAvx2:
      return &peak_avx2_kernel();
    case KernelLevel::kAvx512:
      return &peak_avx512_kernel();
    case KernelLevel::kAvx512Vnni:
      return &peak_avx512_vnni_kernel();
    case KernelLevel::kAvx512Bf16:
      return &peak_avx512_bf16_kernel();
    case KernelLevel::kAmx:
      return &peak_amx_kernels()[precision == Precision::kBf16 ? 0 : 1];
  }
#endif
  (void)precision, (void)level;
  return nullptr;
}

// The shortest time of function(task) on every worker.
template <class Function>
double best_seconds(const Parallel& parallel, Function function) {
  double best = 1e9;
  for (int run = 0; run < kRuns; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    parallel_for(parallel, parallel.workers, [&](size_t task, size_t) { function(task); });
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}

}  // namespace

double measure_peak(Precision precision, KernelLevel level, const Parallel& parallel) {
  const PeakKernel* kernel = peak_kernel(precision, level);
  if (kernel == nullptr) return 0;
  constexpr size_t kRounds = 200000;
  const double seconds = best_seconds(parallel, [&](size_t) { kernel->run(kRounds); });
  return kernel->operations * double{kRounds} * static_cast<double>(parallel.workers) / seconds;
}

// The C library's search is the widest reader at hand: the byte is never found.
double measure_read_bandwidth(const Parallel& parallel) {
  constexpr size_t kBytes = size_t{64} << 20;
  std::vector<std::vector<unsigned char>> blocks(parallel.workers);
  for (auto& block : blocks) block.assign(kBytes, 1);
  std::vector<const void*> found(parallel.workers);
  const double seconds =
      best_seconds(parallel, [&](size_t task) { found[task] = std::memchr(blocks[task].data(), 0, kBytes); });
  return static_cast<double>(kBytes * parallel.workers) / seconds;
}

}  // namespace deberta
