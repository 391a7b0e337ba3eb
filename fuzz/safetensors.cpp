// A .safetensors file: whatever is accepted is written and read back the same.
#include "checkpoint/safetensors.h"

#include <algorithm>

#include "fuzz.h"
#include "support/paths.h"

namespace deberta::fuzz {
namespace {

void expect_equal(const TensorView& a, const TensorView& b) {
  FUZZ_REQUIRE(a.name == b.name && a.dtype == b.dtype && a.shape == b.shape);
  FUZZ_REQUIRE(std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end()));
}

}  // namespace

void run(Bytes input) {
  const std::string in = folder() + "/in.safetensors", out = folder() + "/out.safetensors";
  test::write_text(in, std::string(to_text(input)));
  const SafetensorsFile file(in);
  for (const TensorView& tensor : file.tensors()) {
    FUZZ_REQUIRE(tensor.bytes.size() <= input.size());
    FUZZ_REQUIRE(file.find(tensor.name) == &tensor);
    if (tensor.dtype != DType::kBool) FUZZ_REQUIRE(to_fp32(tensor).size() == tensor.count());
  }
  write_safetensors(out, file.tensors(), file.metadata());
  const SafetensorsFile again(out);
  FUZZ_REQUIRE(again.tensors().size() == file.tensors().size());
  for (size_t i = 0; i < again.tensors().size(); ++i) expect_equal(file.tensors()[i], again.tensors()[i]);
  FUZZ_REQUIRE(again.metadata() == file.metadata());
}

}  // namespace deberta::fuzz
