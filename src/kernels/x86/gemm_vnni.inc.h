// The int8 tile of VNNI, included by gemm_*vnni.cpp after vectors_<isa>.inc.h and add_bytes: one vpdpbusd takes four k
// (u8 x s8, sums in int32).
#include "kernels/x86/gemm_tile.inc.h"

namespace deberta {
namespace {

struct Bytes {
  using Number = uint8_t;
  static constexpr size_t kPack = 4;
  static Vector broadcast(const uint8_t* a) { return broadcast_bits(a); }
  static void add(Vector& sum, Vector left, Vector right) { add_bytes(sum, left, right); }
};

}  // namespace
}  // namespace deberta
