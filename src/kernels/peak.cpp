// Short windows in which all workers are busy.
#include "kernels/peak.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/peak_kernel.h"

namespace deberta {
namespace {

constexpr int kWindows = 12;
constexpr int kReadRuns = 8;
constexpr size_t kRounds = 20000;  // a tenth of a millisecond or a little more: the clock costs nothing beside it

const PeakKernel* peak_kernel(Precision precision, KernelLevel level) {
#if DEBERTA_HAS_X86
  switch (level) {
    case KernelLevel::kReference:
      return nullptr;
    case KernelLevel::kAvx2:
      return &peak_avx2_kernels()[precision == Precision::kInt8 ? 1 : 0];
    case KernelLevel::kAvxVnni:
      return &peak_avxvnni_kernel();
    case KernelLevel::kAvx512:
      return &peak_avx512_kernels()[precision == Precision::kInt8 ? 1 : 0];
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

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Operations a second of the calling thread.
double rate_of(const PeakKernel& kernel, double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  double operations = 0, passed = 0;
  do {
    kernel.run(kRounds);
    operations += kernel.operations * double{kRounds};
    passed = seconds_since(begin);
  } while (passed < seconds);
  return operations / passed;
}

}  // namespace

double sustained_peak(Precision precision, KernelLevel level, const Parallel& parallel, double seconds) {
  const PeakKernel* kernel = peak_kernel(precision, level);
  if (kernel == nullptr) return 0;
  std::vector<double> rates(parallel.workers);
  parallel_for(parallel, rates.size(), [&](size_t task, size_t) { rates[task] = rate_of(*kernel, seconds); });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

double measure_peak(Precision precision, KernelLevel level, const Parallel& parallel) {
  double best = 0;
  for (int window = 0; window < kWindows; ++window) {
    best = std::max(best, sustained_peak(precision, level, parallel, kPeakWindowSeconds));
  }
  return best;
}

// The C library's search is the widest reader at hand: the byte is never found.
double measure_read_bandwidth(const Parallel& parallel) {
  constexpr size_t kBytes = size_t{64} << 20;
  std::vector<std::vector<unsigned char>> blocks(parallel.workers);
  for (auto& block : blocks) block.assign(kBytes, 1);
  std::vector<const void*> found(parallel.workers);
  double seconds = 1e9;
  for (int run = 0; run < kReadRuns; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    parallel_for(parallel, blocks.size(),
                 [&](size_t task, size_t) { found[task] = std::memchr(blocks[task].data(), 0, kBytes); });
    seconds = std::min(seconds, seconds_since(begin));
  }
  return static_cast<double>(kBytes * parallel.workers) / seconds;
}

}  // namespace deberta
