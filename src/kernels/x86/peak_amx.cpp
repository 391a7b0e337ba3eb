// The peak of AMX: four tile accumulators, one product of tiles after another. Only intrinsics, C headers and types
// here (docs/concepts/kernels.md).
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "kernels/x86/amx_tiles.inc.h"
#include "kernels/x86/peak.inc.h"

namespace deberta {
namespace {

void begin() {
  configure_tiles();
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  _tile_zero(4);
  _tile_zero(5);
}

void run_bf16(size_t rounds) {
  begin();
  __asm__ volatile(DEBERTA_ROUNDS("0,1,2,3", "tdpbf16ps %%tmm5, %%tmm4, %%tmm") : "+r"(rounds) : : "cc");
  _tile_release();
}

void run_int8(size_t rounds) {
  begin();
  __asm__ volatile(DEBERTA_ROUNDS("0,1,2,3", "tdpbusd %%tmm5, %%tmm4, %%tmm") : "+r"(rounds) : : "cc");
  _tile_release();
}

constexpr PeakKernels kKernels = {.bf16 = {.operations = 4 * 16 * 16 * 32 * 2, .run = run_bf16},
                                  .int8 = {.operations = 4 * 16 * 16 * 64 * 2, .run = run_int8}};

}  // namespace

const PeakKernels& peak_amx_kernels() {
  return kKernels;
}

}  // namespace deberta
