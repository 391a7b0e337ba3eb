// model.safetensors.index.json next to two valid shards.
#include <set>

#include "deberta/checkpoint.h"
#include "fuzz.h"
#include "support/bad_safetensors.h"
#include "support/paths.h"

namespace deberta::fuzz {
namespace {

const std::string& shards() {
  static const std::string made = [] {
    const std::string data(4, '\1');
    for (const std::string name : {"one", "two"}) {
      const std::string header = "{\"deberta." + name + "\":" + test::entry("\"F32\"", "[1]", "[0,4]") + "}";
      test::write_text(folder() + "/" + name + ".safetensors", test::safetensors_bytes(header, data));
    }
    return folder();
  }();
  return made;
}

}  // namespace

void run(Bytes input) {
  test::write_text(shards() + "/model.safetensors.index.json", std::string(to_text(input)));
  const Checkpoint checkpoint = Checkpoint::open(shards());
  std::set<std::string> names;
  for (const TensorView& tensor : checkpoint.tensors()) names.insert(tensor.name);
  const std::set<std::string> all = {"one", "two"};
  FUZZ_REQUIRE(!names.empty());
  for (const std::string& name : names) FUZZ_REQUIRE(all.contains(name));
  for (const std::string& path : checkpoint.paths()) FUZZ_REQUIRE(path.starts_with(shards()));
}

}  // namespace deberta::fuzz
