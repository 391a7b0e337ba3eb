// A step of products (register_tile.inc.h) in bf16, with AVX512_BF16: one vdpbf16ps.
namespace deberta {
namespace {

struct Bf16Pairs {
  using Number = uint16_t;
  static constexpr size_t kPack = 2;
  static Vector broadcast(const uint16_t* a) { return broadcast_bits(a); }
  static void add(Vector& sum, Vector left, Vector right) {
    sum = _mm512_dpbf16_ps(sum, (__m512bh)left, (__m512bh)right);
  }
};

}  // namespace
}  // namespace deberta
