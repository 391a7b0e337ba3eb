// What a written model directory contains: shards, the other files, the manifest; and what a manifest may say.
#include "checkpoint/model_writer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/json.h"
#include "base/sha256.h"
#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"
#include "support/bad_bin.h"
#include "support/conversion_case.h"
#include "support/expect_error.h"

namespace deberta::model_writer_test {
namespace {

using test::convert;
using test::TemporaryFolder;
using test::write_text;
namespace fs = std::filesystem;

class WrittenModels : public testing::Test {
 protected:
  WrittenModels() {
    fs::create_directory(model);
    test::write_tiny_model(model, test::tiny_config(), Head::kSequence);
  }
  std::string text(const std::string& name) { return read_file(folder.path(name), 1 << 24); }
  ManifestReport verify(const std::string& name) {
    return verify_manifest(folder.path(name), [](uint64_t) {});
  }
  const TemporaryFolder folder;
  const std::string model = folder.path("m");
};

TEST_F(WrittenModels, CopyOtherFilesByteForByteAndSayWhatTheyLeaveOut) {
  const std::string bytes("a\0b\r\n", 5);
  for (const char* name : {"spm.model", "vocab.json", "merges.txt", "tokenizer_config.json", "README.md",
                           "bpe_encoder.bin", "training_args.bin", "pytorch_model.bin", "flax_model.msgpack"})
    write_text(model + "/" + name, bytes);
  write_text(model + "/" + std::string(kManifestName), "old");
  fs::create_directory(model + "/onnx");
  const std::vector<Change> changes = convert(model, folder.path("a"));
  for (const char* name :
       {"spm.model", "vocab.json", "merges.txt", "tokenizer_config.json", "README.md", "bpe_encoder.bin"})
    EXPECT_EQ(text(std::string("a/") + name), bytes) << name;
  std::vector<std::string> left_out;
  for (const Change& change : changes) {
    if (change.change == "left out") left_out.push_back(change.subject);
  }
  EXPECT_EQ(left_out,
            (std::vector<std::string>{"flax_model.msgpack", "onnx", "pytorch_model.bin", "training_args.bin"}));
  for (const std::string& name : left_out) EXPECT_FALSE(fs::exists(folder.path("a/" + name)));
  EXPECT_TRUE(verify("a").errors.empty());
}

TEST_F(WrittenModels, AreShardsWhenTheyAreLargerThanOneFileMayBe) {
  convert(model, folder.path("whole"));
  convert(model, folder.path("a"), {}, 8000);
  const Json index = load_json(folder.path("a/model.safetensors.index.json"));
  const Checkpoint shards = Checkpoint::open(folder.path("a")), whole = Checkpoint::open(folder.path("whole"));
  EXPECT_EQ(index.find("metadata")->find("total_size")->as_integer(), static_cast<int64_t>(whole.size_bytes()));
  EXPECT_EQ(index.find("weight_map")->as_object().size(), whole.tensors().size());
  const std::vector<std::string> paths = shards.paths();
  ASSERT_GT(paths.size(), 2u);
  EXPECT_EQ(paths[0], folder.path("a/model-00001-of-0000" + std::to_string(paths.size()) + ".safetensors"));
  for (const std::string& path : paths) {
    const SafetensorsFile file(path);
    uint64_t size_bytes = 0;
    for (const TensorView& tensor : file.tensors()) size_bytes += tensor.bytes.size();
    EXPECT_LE(size_bytes, 8000u);
  }
  ASSERT_EQ(shards.tensors().size(), whole.tensors().size());
  for (const TensorView& tensor : whole.tensors())
    EXPECT_EQ(to_text(shards.find(tensor.name)->bytes), to_text(tensor.bytes));
  convert(folder.path("a"), folder.path("back"));
  EXPECT_EQ(text("back/model.safetensors"), text("whole/model.safetensors"));
  EXPECT_TRUE(verify("a").errors.empty());
}

TEST_F(WrittenModels, GiveATensorLargerThanAShardAFileOfItsOwn) {
  convert(model, folder.path("a"), {}, 1);
  const Checkpoint source = Checkpoint::open(model);
  EXPECT_EQ(Checkpoint::open(folder.path("a")).paths().size(), source.tensors().size());
}

TEST_F(WrittenModels, AreTheSameFromEveryFormOfTheWeights) {
  convert(model, folder.path("safetensors"));
  const std::vector<TensorView> tensors = SafetensorsFile(model + "/model.safetensors").tensors();
  const SafetensorsFile source(model + "/model.safetensors");
  const size_t half = source.tensors().size() / 2;
  const auto middle = source.tensors().begin() + static_cast<std::ptrdiff_t>(half);
  const std::vector<TensorView> first(source.tensors().begin(), middle), second(middle, source.tensors().end());
  for (const bool is_zip : {true, false}) {
    for (const bool is_sharded : {false, true}) {
      const auto form = is_zip ? test::BinForm::kZip : test::BinForm::kLegacy;
      const std::string name = std::string(is_zip ? "zip" : "legacy") + (is_sharded ? "-shards" : "");
      fs::create_directory(folder.path(name));
      fs::copy(model + "/config.json", folder.path(name + "/config.json"));
      if (is_sharded) {
        write_text(folder.path(name + "/1.bin"), test::bin_of(first, form));
        write_text(folder.path(name + "/2.bin"), test::bin_of(second, form));
        JsonObject map;
        for (const TensorView& tensor : first) map.emplace_back(tensor.name, "1.bin");
        for (const TensorView& tensor : second) map.emplace_back(tensor.name, "2.bin");
        write_text(folder.path(name + "/pytorch_model.bin.index.json"), Json(JsonObject{{"weight_map", map}}).dump());
      } else {
        write_text(folder.path(name + "/pytorch_model.bin"), test::bin_of(source.tensors(), form));
      }
      const std::vector<Change> changes = convert(folder.path(name), folder.path(name + "-a"));
      for (const Change& change : changes) EXPECT_NE(change.change, "left out") << change.subject;
      EXPECT_EQ(text(name + "-a/model.safetensors"), text("safetensors/model.safetensors")) << name;
      EXPECT_EQ(text(name + "-a/config.json"), text("safetensors/config.json"));
    }
  }
}

TEST_F(WrittenModels, CanStandInFoldersOfOneManifest) {
  const Checkpoint checkpoint = Checkpoint::open(model);
  const Conversion conversion = plan_conversion(checkpoint, load_model_config(model + "/config.json"), {}, model);
  write_text(model + "/spm.model", "pieces");
  {
    StagedFolder staged(folder.path("a"));
    ManifestWriter files(staged);
    write_model_files(files, conversion, model, {.subfolder = "generator/"});
    write_model_files(files, conversion, model, {.subfolder = "discriminator/", .shard_bytes = 8000});
    files.add_text("more.json", "{}");
    files.finish();
    staged.publish();
  }
  convert(model, folder.path("whole"));
  for (const char* name : {"model.safetensors", "config.json", "spm.model"})
    EXPECT_EQ(text(std::string("a/generator/") + name), text(std::string("whole/") + name)) << name;
  EXPECT_GT(Checkpoint::open(folder.path("a/discriminator")).paths().size(), 2u);
  EXPECT_TRUE(verify("a").errors.empty() && verify("a").warnings.empty());
  write_text(folder.path("a/generator/other.json"), "{}");
  fs::create_directory(folder.path("a/unlisted"));
  ASSERT_EQ(verify("a").warnings.size(), 1u);
  EXPECT_EQ(verify("a").warnings[0].where, folder.path("a"));
  EXPECT_EQ(verify("a").warnings[0].message, "not in deberta.manifest.json: generator/other.json, unlisted");
  write_text(folder.path("a/generator/spm.model"), "pieceS");
  ASSERT_EQ(verify("a").errors.size(), 1u);
  EXPECT_EQ(verify("a").errors[0].where, folder.path("a/generator/spm.model"));
}

TEST_F(WrittenModels, LeaveOutWhatSpeaksOfAnotherModel) {
  const Checkpoint checkpoint = Checkpoint::open(model);
  const Conversion conversion = plan_conversion(checkpoint, load_model_config(model + "/config.json"), {}, model);
  for (const char* name : {"README.md", "all_results.json", "other.json"}) write_text(model + "/" + name, "{}");
  StagedFolder staged(folder.path("a"));
  ManifestWriter files(staged);
  const std::vector<Change> left =
      write_model_files(files, conversion, model, {.leaves_out = {"README.md", "all_results.json"}});
  files.finish();
  staged.publish();
  EXPECT_FALSE(fs::exists(folder.path("a/README.md")) || fs::exists(folder.path("a/all_results.json")));
  EXPECT_TRUE(fs::exists(folder.path("a/other.json")));
  EXPECT_EQ(left.size(), 2u);
}

// A model that was changed in memory, for an evaluation or a checkpoint of training.
TEST_F(WrittenModels, AreTheSameFromTensorsInMemory) {
  convert(model, folder.path("whole"));
  const SafetensorsFile source(model + "/model.safetensors");
  const Checkpoint checkpoint = Checkpoint::from_memory(source.tensors(), "training");
  const Conversion conversion = plan_conversion(checkpoint, load_model_config(model + "/config.json"), {}, "training");
  StagedFolder staged(folder.path("a"));
  write_model(staged, conversion, model, {});
  staged.publish();
  EXPECT_EQ(text("a/model.safetensors"), text("whole/model.safetensors"));
  EXPECT_EQ(text("a/config.json"), text("whole/config.json"));
}

TEST_F(WrittenModels, NothingIsThereWhenTheyAreNotFinished) {
  const Checkpoint checkpoint = Checkpoint::open(model);
  const Conversion conversion = plan_conversion(checkpoint, load_model_config(model + "/config.json"), {}, model);
  struct Stop {};
  uint64_t total = 0;
  WriteOptions options;
  options.on_bytes = [&](uint64_t bytes) { total += bytes; };
  {
    StagedFolder staged(folder.path("whole"));
    write_model(staged, conversion, model, options);
    staged.publish();
  }
  EXPECT_GE(total, conversion.size_bytes());
  for (uint64_t limit = 0; limit < total; limit += total / 7) {
    uint64_t done = 0;
    options.on_bytes = [&](uint64_t bytes) {
      if ((done += bytes) > limit) throw Stop{};
    };
    const auto write = [&] {
      StagedFolder staged(folder.path("a"));
      write_model(staged, conversion, model, options);
      staged.publish();
    };
    EXPECT_THROW(write(), Stop);
  }
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), {}), 2);
}

TEST_F(WrittenModels, AreNotThoseOfTheManifestOnceAnythingChanges) {
  convert(model, folder.path("a"));
  const ManifestReport good = verify("a");
  EXPECT_TRUE(good.errors.empty() && good.warnings.empty());
  const std::string path = folder.path("a/model.safetensors"), weights = text("a/model.safetensors");
  const auto expect = [&](const std::string& message) {
    const ManifestReport report = verify("a");
    ASSERT_EQ(report.errors.size(), 1u);
    EXPECT_EQ(report.errors[0].where, path);
    EXPECT_NE(report.errors[0].message.find(message), std::string::npos) << report.errors[0].message;
  };
  for (const size_t at : {size_t{9}, weights.size() / 2, weights.size() - 1}) {
    std::string flipped = weights;
    flipped[at] = static_cast<char>(flipped[at] ^ 1);
    write_text(path, flipped);
    expect("expected the content that");
  }
  write_text(path, weights + "x");
  expect("expected " + std::to_string(weights.size()) + " bytes");
  fs::remove(path);
  expect("cannot open");
  fs::create_directory(path);
  expect("got a folder");
  fs::remove(path);
  write_text(path, weights);
  write_text(folder.path("a/other.json"), "{}");
  ASSERT_EQ(verify("a").warnings.size(), 1u);
  EXPECT_EQ(verify("a").warnings[0].message, "not in deberta.manifest.json: other.json");
}

const std::string kDigest(64, 'a');

std::string manifest(const std::string& name, const std::string& entry) {
  return R"({"format": 1, "files": {)" + name + ": " + entry + "}}";
}

TEST(Manifest, IsReadAsItIsWritten) {
  const std::vector<ManifestFile> files = {{"a/b", 3, kDigest}, {"b \"c\"", 0, sha256_of({})}};
  const std::vector<ManifestFile> read = parse_manifest(manifest_text(files), "m");
  ASSERT_EQ(read.size(), 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read[i].name, files[i].name);
    EXPECT_EQ(read[i].bytes, files[i].bytes);
    EXPECT_EQ(read[i].sha256, files[i].sha256);
  }
}

TEST(Manifest, OfANewerFormatIsNotCalledDamagedWhateverElseIsInIt) {
  EXPECT_ERROR(parse_manifest(R"({"format": 2, "folders": {}})", "m"), kUnsupported,
               "m: format: expected at most 1, got 2; a newer version of deberta wrote it: use that version");
}

TEST(Manifest, RefusesAnythingElse) {
  const std::string good = R"({"bytes": 1, "sha256": ")" + kDigest + "\"}";
  EXPECT_EQ(parse_manifest(manifest("\"a\"", good), "m").size(), 1u);
  for (const char* text : {"[]", "3", "null", "{}", R"({"format": 1})", R"({"files": {}})",
                           R"({"format": 1, "files": []})", R"({"format": 1, "files": {}, "more": 1})"})
    EXPECT_ERROR(parse_manifest(text, "m"), kManifest, "exactly the keys format and files");
  for (const char* format : {"0", "\"2\"", "1.0", "null"})
    EXPECT_ERROR(parse_manifest(std::string(R"({"files": {}, "format": )") + format + "}", "m"), kManifest,
                 "format: expected 1");
  for (const char* name : {R"("../a")", R"("/etc/passwd")", R"("a//b")", R"("a/")", R"("a/../b")", R"("./a")",
                           R"("a\\b")", R"("")", R"(".")", R"("..")", R"("a\u0000")", R"("deberta.manifest.json")"})
    EXPECT_ERROR(parse_manifest(manifest(name, good), "m"), kManifest, "expected the name of a file in the folder");
  for (const char* entry :
       {"{}", "[]", "1", R"({"bytes": 1})", R"({"sha256": "x"})", R"({"bytes": 1, "sha256": "", "x": 1})"})
    EXPECT_ERROR(parse_manifest(manifest("\"a\"", entry), "m"), kManifest, "exactly the keys bytes and sha256");
  for (const char* bytes : {"-1", "1.5", "\"1\"", "null"})
    EXPECT_ERROR(parse_manifest(manifest("\"a\"", std::string(R"({"sha256": "x", "bytes": )") + bytes + "}"), "m"),
                 kManifest, "bytes: expected an integer >= 0");
  for (const std::string& digest : {std::string("\"\""), "\"" + kDigest + "a\"", "\"" + std::string(64, 'A') + "\"",
                                    "\"" + std::string(63, 'a') + "g\"", std::string("1")})
    EXPECT_ERROR(parse_manifest(manifest("\"a\"", R"({"bytes": 1, "sha256": )" + digest + "}"), "m"), kManifest,
                 "sha256: expected 64 hexadecimal digits");
  EXPECT_ERROR(parse_manifest(manifest("\"a\": " + good + ", \"a\"", good), "m"), kJson, "\"a\" appears twice");
  EXPECT_ERROR(parse_manifest(std::string((1 << 20) + 1, ' '), "m"), kTooLarge, "at most 1048576 bytes");
  EXPECT_ERROR(parse_manifest(manifest("\"a\"", "[[[[[]]]]]"), "m"), kJson, "nested levels");
}

}  // namespace
}  // namespace deberta::model_writer_test
