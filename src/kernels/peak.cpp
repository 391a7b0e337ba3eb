// Short windows in which all workers are busy.
#include "kernels/peak.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <vector>

#include "kernels/implementations.h"
#include "kernels/peak_kernel.h"

namespace deberta {
namespace {

constexpr int kReadRuns = 8;
constexpr size_t kRounds = 20000;  // a tenth of a millisecond or a little more: the clock costs nothing beside it
// For comparing multipliers: a burst takes 2 to 25 microseconds, short enough for one of many to run undisturbed, and
// in the first turns the upper halves of the registers may be asleep.
constexpr int kTurns = 24;
constexpr size_t kBurst = 1000;

// It uses fp32's instruction.
bool is_widened(Precision precision, KernelLevel level) {
  return precision == Precision::kBf16 && !implementation(level).multiplies_pairs;
}

// Null where there is none.
const PeakKernel* peak_kernel(Precision precision, KernelLevel level) {
  const PeakKernels* kernels = kernel_of(level, &ImplementationRow::peaks);
  if (kernels == nullptr) return nullptr;
  const bool is_fp32 = precision == Precision::kFp32 || is_widened(precision, level);
  const PeakKernel& kernel = is_fp32 ? kernels->fp32 : precision == Precision::kBf16 ? kernels->bf16 : kernels->int8;
  return kernel.run != nullptr ? &kernel : nullptr;
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

double rate_of_burst(const PeakKernel& kernel) {
  const auto begin = std::chrono::steady_clock::now();
  kernel.run(kBurst);
  return kernel.operations * double{kBurst} / seconds_since(begin);
}

}  // namespace

Peaks compare_multipliers(LevelSet usable) {
  Peaks best;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (const Precision precision : kAllPrecisions) {
      for (const KernelLevel level : kLevels) {
        if ((usable & level_bit(level)) == 0 || !exists(Operation::kGemm, precision, level)) continue;
        const PeakKernel* kernel = peak_kernel(precision, level);
        double& peak = best.of(precision, level);
        if (is_widened(precision, level)) {
          peak = best.of(Precision::kFp32, level);
        } else if (kernel != nullptr) {
          peak = std::max(peak, rate_of_burst(*kernel));
        }
      }
    }
  }
  return best;
}

double sustained_peak(Precision precision, KernelLevel level, const Parallel& parallel, double seconds) {
  const PeakKernel* kernel = peak_kernel(precision, level);
  if (kernel == nullptr) return 0;
  std::vector<double> rates(parallel.workers);
  parallel_for(parallel, rates.size(), [&](size_t task, size_t) { rates[task] = rate_of(*kernel, seconds); });
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

double measure_peak(Precision precision, KernelLevel level, const Parallel& parallel, int windows) {
  double best = 0;
  for (int window = 0; window < windows; ++window) {
    best = std::max(best, sustained_peak(precision, level, parallel, kPeakWindowSeconds));
  }
  return best;
}

// The C library's search is the widest reader at hand: the byte is never found.
double measure_read_bandwidth(const Parallel& parallel) {
  constexpr size_t kBytes = size_t{64} << 20;
  std::vector<std::vector<unsigned char>> blocks(parallel.workers);
  for (auto& block : blocks) block.assign(kBytes, 1);
  std::vector<const void*> positions(parallel.workers);
  double seconds = 1e9;
  for (int run = 0; run < kReadRuns; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    parallel_for(parallel, blocks.size(),
                 [&](size_t task, size_t) { positions[task] = std::memchr(blocks[task].data(), 0, kBytes); });
    seconds = std::min(seconds, seconds_since(begin));
  }
  return static_cast<double>(kBytes * parallel.workers) / seconds;
}

}  // namespace deberta
