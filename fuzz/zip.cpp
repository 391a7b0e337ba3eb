// A zip archive, and the same bytes as pytorch_model.bin of either container.
#include "base/zip_reader.h"

#include "checkpoint/bin_file.h"
#include "deberta/error.h"
#include "fuzz.h"

namespace deberta::fuzz {
namespace {

void read_archive(Bytes input) {
  const ZipReader zip(input, "in");
  for (const ZipEntry& entry : zip.entries()) {
    FUZZ_REQUIRE(entry.bytes.empty() || (entry.bytes.data() >= input.data() && &entry.bytes.back() <= &input.back()));
    FUZZ_REQUIRE(entry.name.starts_with(zip.root()));
    FUZZ_REQUIRE(zip.find(entry.name.substr(zip.root().size())) == &entry);
    try {
      FUZZ_REQUIRE(zip.read(entry).data() == entry.bytes.data());
    } catch (const Error&) {  // a wrong CRC-32
    }
  }
}

}  // namespace

void run(Bytes input) {
  try {
    read_archive(input);
  } catch (const Error&) {  // then it may be a legacy file
  }
  const BinTensors tensors = parse_bin(input, "in");
  uint64_t copied = 0;
  for (const auto& copy : tensors.copies) copied += copy.size();
  FUZZ_REQUIRE(copied <= 4 * input.size());
  for (const TensorView& tensor : tensors.views) {
    FUZZ_REQUIRE(tensor.bytes.size() == size_bytes_of(tensor.dtype, tensor.shape));
    if (tensor.dtype != DType::kBool) FUZZ_REQUIRE(to_fp32(tensor).size() == tensor.count());
  }
}

}  // namespace deberta::fuzz
