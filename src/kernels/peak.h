// What the machine can do at most, measured: arithmetic that never leaves the registers, and reading memory. The
// figures that `deberta bench` sets its own beside.
#pragma once
#include <cstddef>

#include "base/parallel.h"
#include "kernels/dispatch.h"

namespace deberta {

// Long enough to be sustained, short enough to fall between interruptions.
inline constexpr double kPeakWindowSeconds = 0.005;

// Operations a second (a multiplication and an addition are two) of all workers together for `seconds`, with the
// instruction that the GEMM of `precision` at `level` is made of; widening levels run fp32 arithmetic. 0 for the
// reference. Throws std::bad_alloc.
double sustained_peak(Precision precision, KernelLevel level, const Parallel& parallel, double seconds);

// The best of 12 windows.
double measure_peak(Precision precision, KernelLevel level, const Parallel& parallel);

// Bytes a second that all workers together read from memory, each 64 MiB of its own. Takes about 200 ms.
// Throws std::bad_alloc.
double measure_read_bandwidth(const Parallel& parallel);

}  // namespace deberta
