// A step of products (tile.inc.h) of AVX512-BF16.
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
