// What one instruction set offers for measuring its arithmetic. Types only.
#pragma once
#include <stddef.h>

namespace deberta {

struct PeakKernel {
  double operations;  // of one round
  void (*run)(size_t rounds);
};

const PeakKernel* peak_avx2_kernels();  // fp32 and bf16, int8
const PeakKernel& peak_avxvnni_kernel();
const PeakKernel* peak_avx512_kernels();  // fp32 and bf16, int8
const PeakKernel& peak_avx512_vnni_kernel();
const PeakKernel& peak_avx512_bf16_kernel();
const PeakKernel* peak_amx_kernels();  // bf16, int8

}  // namespace deberta
