// Sizes at the limits of checkpoint files: the largest is read, one more is refused (the tables of bad files have the
// rest).
#include <gtest/gtest.h>

#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"
#include "deberta/checkpoint.h"
#include "support/bad_bin.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::limits_test {
namespace {

using namespace test;

class Limits : public testing::Test {
 protected:
  std::string with(const std::string& name, const std::string& bytes) const {
    write_text(folder_.path(name), bytes);
    return folder_.path(name);
  }
  size_t tensors_in(const std::string& bytes) const { return SafetensorsFile(with("a", bytes)).tensors().size(); }
  size_t tensors_of_bin(const std::string& bytes) const {
    const Checkpoint checkpoint = Checkpoint::open_file(with("pytorch_model.bin", bytes));
    return checkpoint.tensors().size();
  }
  TemporaryFolder folder_;
};

std::string empty_tensor(std::string_view shape) {
  return safetensors_bytes("{\"a\":" + entry("\"U8\"", shape, "[0,0]") + "}");
}

TEST_F(Limits, ASafetensorsHeaderHas100MillionBytes) {
  EXPECT_EQ(tensors_in(safetensors_bytes("{}" + std::string(100000000 - 2, ' '))), 0u);
  EXPECT_ERROR(tensors_in(safetensors_bytes("{}" + std::string(100000000 - 1, ' '))), kSafetensors, "got 100000001");
}

TEST_F(Limits, SafetensorsMetadataHaveAMebibyte) {
  const auto metadata = [](size_t size) {
    return safetensors_bytes("{\"__metadata__\":{\"k\":\"" + std::string(size - 1, 'v') + "\"}}");
  };
  EXPECT_EQ(tensors_in(metadata(1 << 20)), 0u);
  EXPECT_ERROR(tensors_in(metadata((1 << 20) + 1)), kSafetensors, "at most 1048576 bytes, got 1048577");
}

TEST_F(Limits, DimensionsAreBelow2To53AndTensorsBelow2To48Bytes) {
  EXPECT_EQ(tensors_in(empty_tensor("[0,9007199254740991]")), 1u);
  EXPECT_ERROR(tensors_in(empty_tensor("[0,9007199254740992]")), kSafetensors, "2^53 - 1");
  EXPECT_EQ(tensors_in(empty_tensor("[281474976710655,0]")), 1u);
}

TEST_F(Limits, ACheckpointHas1000Shards) {
  std::string map;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "t" + std::to_string(i);
    with("s" + name, safetensors_bytes("{\"" + name + "\":" + entry("\"U8\"", "[1]", "[0,1]") + "}", "x"));
    map += (i == 0 ? "\"" : ", \"") + name + "\": \"s" + name + "\"";
  }
  with("model.safetensors.index.json", "{\"weight_map\": {" + map + "}}");
  const Checkpoint checkpoint = Checkpoint::open(folder_.path());
  EXPECT_EQ(checkpoint.tensors().size(), 1000u);
}

TEST_F(Limits, ABinHas100000Tensors) {
  std::string many = "}(" + push_text("t") + push_tensor({}) + "q\x01";
  for (int i = 1; i < 100000; ++i) many += push_text("t" + std::to_string(i)) + "h\x01";
  EXPECT_EQ(tensors_of_bin(zip_bin(pickle(many + "u"), {{"0", six_floats()}})), 100000u);
}

TEST_F(Limits, ABinsPickleHas64Mebibytes) {
  const std::string tensors = push_state_dict({{"a", push_tensor({})}});
  const auto of_size = [&](size_t size) {
    std::string before;
    const size_t room = size - pickle(tensors).size();
    for (size_t left = room; left > 0;) {  // texts, each with its five bytes before it and two marks around
      const size_t text = std::min<size_t>(left, size_t{16} << 20) - 7;
      before += "(" + push_text(std::string(text, 't')) + "1";
      left -= text + 7;
      if (left > 0 && left < 7) return std::string();
    }
    return pickle(before + tensors);
  };
  const std::string largest = of_size(size_t{64} << 20);
  ASSERT_EQ(largest.size(), size_t{64} << 20);
  EXPECT_EQ(tensors_of_bin(zip_bin(largest, {{"0", six_floats()}})), 1u);
}

TEST_F(Limits, NamesRanksAndKeysOfABin) {
  const auto named = [](size_t size) {
    return zip_bin(pickle(push_state_dict({{std::string(size, 'n'), push_tensor({})}})), {{"0", six_floats()}});
  };
  EXPECT_EQ(tensors_of_bin(named(1024)), 1u);
  EXPECT_ERROR(tensors_of_bin(named(1025)), kBin, "a name of 1 to 1024 bytes");
  const auto keyed = [](size_t size) {
    const std::string key(size, 'k');
    const std::string tensor = push_tensor({.storage = push_storage({.key = push_text(key)})});
    return zip_bin(pickle(push_state_dict({{"a", tensor}})), {{key, six_floats()}});
  };
  EXPECT_EQ(tensors_of_bin(keyed(255)), 1u);
  EXPECT_ERROR(tensors_of_bin(keyed(256)), kBin, "key");
  const std::vector<std::string> ones(8, push_number(1));
  const std::string tensor = push_tensor({.shape = push_tuple(ones), .strides = push_tuple(ones)});
  EXPECT_EQ(tensors_of_bin(zip_bin(pickle(push_state_dict({{"a", tensor}})), {{"0", six_floats()}})), 1u);
}

TEST_F(Limits, AManifestHas2000Files) {
  const auto manifest = [](int files) {
    const std::string file = R"({"bytes": 1, "sha256": ")" + std::string(64, 'a') + "\"}";
    std::string text = R"({"format": 1, "files": {"f": )" + file;
    for (int i = 1; i < files; ++i) text += ", \"f" + std::to_string(i) + "\": " + file;
    return text + "}}";
  };
  EXPECT_NO_THROW(parse_manifest(manifest(2000), "m"));
  EXPECT_ERROR(parse_manifest(manifest(2001), "m"), kManifest, "at most 2000, got 2001");
}

}  // namespace
}  // namespace deberta::limits_test
