// The machine's peak rates, measured: arithmetic that never leaves the registers, and reading memory. `deberta bench`
// compares its own figures with these.
#pragma once
#include <array>
#include <cstddef>

#include "base/parallel.h"
#include "kernels/dispatch.h"

namespace deberta {

// For each precision and level, operations (a multiplication and an addition are two) of one core in some unit of time:
// how the multipliers of a processor compare. 0: none.
struct Peaks {
  std::array<std::array<double, kKernelLevels>, kPrecisions> figures{};

  constexpr double& of(Precision precision, KernelLevel level) {
    return figures[static_cast<size_t>(precision)][static_cast<size_t>(level)];
  }
  constexpr double of(Precision precision, KernelLevel level) const {
    return figures[static_cast<size_t>(precision)][static_cast<size_t>(level)];
  }
};

// Operations a second of the calling thread, for every multiplier of `usable`: short bursts in turns, the best of each.
// Takes less than 1 ms, with tiles perhaps 2.
Peaks compare_multipliers(LevelSet usable);

// Long enough to be sustained, short enough to fall between interruptions.
inline constexpr double kPeakWindowSeconds = 0.005;

// Operations a second (a multiplication and an addition are two) of all workers together for `seconds`, with the
// instruction that the GEMM of `precision` at `level` is made of; widening levels run fp32 arithmetic. 0 for the
// reference. Throws std::bad_alloc.
double sustained_peak(Precision precision, KernelLevel level, const Parallel& parallel, double seconds);

// The best of some windows.
double measure_peak(Precision precision, KernelLevel level, const Parallel& parallel, int windows = 12);

// Bytes a second that all workers together read from memory, each 64 MiB of its own. Takes about 200 ms.
// Throws std::bad_alloc.
double measure_read_bandwidth(const Parallel& parallel);

}  // namespace deberta
