// What attention multiplies: c = a b, or c += a b. Included after Number, the element of a left operand, and kPack, the
// numbers that one column of a right operand holds side by side.

namespace deberta {
namespace {

struct Left {
  const Number* data;
  size_t stride;
};
struct Right {
  const float* data;  // columns of kPack numbers
  size_t stride;
};

struct Product {
  const Number* a;  // [rows][depth]
  size_t a_stride;
  const float* b;  // [depth / kPack][columns], each a pack
  size_t b_stride;
  size_t rows, columns, depth;  // columns: a multiple of 16
  float* c;                     // [rows][columns]
  size_t c_stride;
  bool adds;  // to what c holds
};

}  // namespace
}  // namespace deberta
