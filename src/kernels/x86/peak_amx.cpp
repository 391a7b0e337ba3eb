// The peak of AMX: four tile accumulators, one product of tiles after another, all in registers. Only intrinsics, C
// headers and types here (docs/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/peak_kernel.h"

namespace deberta {
namespace {

struct TileConfig {
  uint8_t palette;
  uint8_t start_row;
  uint8_t reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};

void begin() {
  TileConfig config = {};
  config.palette = 1;
  for (int i = 0; i < 8; ++i) {
    config.row_bytes[i] = 64;
    config.rows[i] = 16;
  }
  _tile_loadconfig(&config);
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
}

void run_bf16(size_t rounds) {
  begin();
  __asm__ volatile(
      "1:\n"
      "tdpbf16ps %%tmm5, %%tmm4, %%tmm0\n"
      "tdpbf16ps %%tmm5, %%tmm4, %%tmm1\n"
      "tdpbf16ps %%tmm5, %%tmm4, %%tmm2\n"
      "tdpbf16ps %%tmm5, %%tmm4, %%tmm3\n"
      "dec %0\n"
      "jnz 1b\n"
      : "+r"(rounds)
      :
      : "cc");
  _tile_release();
}

void run_int8(size_t rounds) {
  begin();
  __asm__ volatile(
      "1:\n"
      "tdpbusd %%tmm5, %%tmm4, %%tmm0\n"
      "tdpbusd %%tmm5, %%tmm4, %%tmm1\n"
      "tdpbusd %%tmm5, %%tmm4, %%tmm2\n"
      "tdpbusd %%tmm5, %%tmm4, %%tmm3\n"
      "dec %0\n"
      "jnz 1b\n"
      : "+r"(rounds)
      :
      : "cc");
  _tile_release();
}

constexpr PeakKernel kKernels[] = {{4 * 16 * 16 * 32 * 2, run_bf16}, {4 * 16 * 16 * 64 * 2, run_int8}};

}  // namespace

const PeakKernel* peak_amx_kernels() {
  return kKernels;
}

}  // namespace deberta
