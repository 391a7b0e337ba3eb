// What one instruction set offers for measuring its arithmetic. Types only.
#pragma once
#include <stddef.h>

namespace deberta {

struct PeakKernel {
  double operations = 0;  // in one round
  void (*run)(size_t rounds) = nullptr;
};

// By number format; without `run` where the set multiplies it no faster than another does.
struct PeakKernels {
  PeakKernel fp32 = {};
  PeakKernel bf16 = {};
  PeakKernel int8 = {};
};

const PeakKernels& peak_avx2_kernels();
const PeakKernels& peak_avxvnni_kernels();
const PeakKernels& peak_avx512_kernels();
const PeakKernels& peak_avx512vnni_kernels();
const PeakKernels& peak_avx512bf16_kernels();
const PeakKernels& peak_amx_kernels();

}  // namespace deberta
