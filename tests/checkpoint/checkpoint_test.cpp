// Which files hold a folder's weights; prefixes and other names; shards.
#include "deberta/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <optional>

#include "checkpoint/made_tensor.h"
#include "support/bad_bin.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::checkpoint_test {
namespace {

using test::TemporaryFolder;
using test::write_text;

const std::string kBytes(64, '\x01');

void write_names(const std::string& path, const std::vector<std::string>& names) {
  std::vector<TensorView> tensors;
  for (const std::string& name : names)
    tensors.push_back({name, DType::kF32, {2}, to_bytes(std::string_view(kBytes).substr(0, 8))});
  write_safetensors(path, tensors);
}

std::vector<std::string> names_in(const Checkpoint& checkpoint) {
  std::vector<std::string> names;
  for (const TensorView& tensor : checkpoint.tensors()) names.push_back(tensor.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Checkpoint, TakesThePrefixOffAndSortsTheNames) {
  const TemporaryFolder folder;
  for (const std::string prefix : {"deberta.", "bert.", ""}) {
    write_names(folder.path("model.safetensors"), {prefix + "encoder.b", "classifier.weight", prefix + "embeddings.a"});
    const Checkpoint checkpoint = Checkpoint::open(folder.path());
    EXPECT_EQ(checkpoint.prefix(), prefix);
    EXPECT_EQ(names_in(checkpoint), (Names{"classifier.weight", "embeddings.a", "encoder.b"}));
    EXPECT_EQ(checkpoint.size_bytes(), 24u);
    EXPECT_EQ(checkpoint.paths(), Names{folder.path("model.safetensors")});
    ASSERT_NE(checkpoint.find("encoder.b"), nullptr);
    EXPECT_EQ(checkpoint.find("encoder.b")->count(), 2u);
    EXPECT_EQ(checkpoint.find("encoder.c"), nullptr);
    EXPECT_EQ(checkpoint.find("deberta.encoder.b"), nullptr);
  }
}

TEST(Checkpoint, LeavesOutWhatAWrapperPutBeforeEveryName) {
  const TemporaryFolder folder;
  for (const std::string wrapper :
       {"module.", "_orig_mod.", "model.", "module._orig_mod.", "_orig_mod.module.model."}) {
    write_names(folder.path("model.safetensors"),
                {wrapper + "deberta.encoder.b", wrapper + "classifier.weight", wrapper + "deberta.embeddings.a"});
    const Checkpoint checkpoint = Checkpoint::open(folder.path());
    EXPECT_EQ(checkpoint.prefix(), "deberta.");
    EXPECT_EQ(names_in(checkpoint), (Names{"classifier.weight", "embeddings.a", "encoder.b"}));
    EXPECT_EQ(checkpoint.stored_name("encoder.b"), "deberta.encoder.b");
  }
  write_names(folder.path("model.safetensors"), {"module.deberta.encoder.b", "classifier.weight"});
  EXPECT_EQ(names_in(Checkpoint::open(folder.path())), (Names{"classifier.weight", "module.deberta.encoder.b"}));
}

TEST(Checkpoint, KnowsTheFormerNamesOfNorms) {
  const TemporaryFolder folder;
  write_names(folder.path("model.safetensors"),
              {"deberta.embeddings.LayerNorm.gamma", "deberta.embeddings.LayerNorm.beta", "deberta.gamma.a"});
  const Checkpoint checkpoint = Checkpoint::open(folder.path());
  EXPECT_EQ(names_in(checkpoint), (Names{"embeddings.LayerNorm.bias", "embeddings.LayerNorm.weight", "gamma.a"}));
  EXPECT_EQ(checkpoint.stored_name("embeddings.LayerNorm.bias"), "deberta.embeddings.LayerNorm.bias");
  write_names(folder.path("model.safetensors"), {"embeddings.LayerNorm.gamma", "embeddings.LayerNorm.weight"});
  EXPECT_ERROR(Checkpoint::open(folder.path()), kTensors, "embeddings.LayerNorm.weight: stored under two names");
}

TEST(Checkpoint, GivesTheLanguageModelHeadOfTransformersItsCanonicalNames) {
  const TemporaryFolder folder;
  write_names(folder.path("model.safetensors"),
              {"cls.predictions.transform.dense.weight", "cls.predictions.transform.dense.bias",
               "cls.predictions.transform.LayerNorm.weight", "cls.predictions.transform.LayerNorm.bias",
               "cls.predictions.bias", "deberta.embeddings.a"});
  EXPECT_EQ(names_in(Checkpoint::open(folder.path())),
            (Names{"embeddings.a", "lm_predictions.lm_head.LayerNorm.bias", "lm_predictions.lm_head.LayerNorm.weight",
                   "lm_predictions.lm_head.bias", "lm_predictions.lm_head.dense.bias",
                   "lm_predictions.lm_head.dense.weight"}));
}

TEST(Checkpoint, RefusesATensorUnderTwoNames) {
  const TemporaryFolder folder;
  write_names(folder.path("model.safetensors"), {"cls.predictions.bias", "lm_predictions.lm_head.bias"});
  EXPECT_ERROR(Checkpoint::open(folder.path()), kTensors, "lm_predictions.lm_head.bias: stored under two names");
  write_names(folder.path("model.safetensors"), {"deberta.pooler.dense.weight", "pooler.dense.weight"});
  EXPECT_ERROR(Checkpoint::open(folder.path()), kTensors, "pooler.dense.weight: stored under two names");
}

TEST(Checkpoint, LivesOnWithoutTheObjectThatOpenedIt) {
  const TemporaryFolder folder;
  write_names(folder.path("model.safetensors"), {"deberta.a"});
  std::optional<Checkpoint> opened = Checkpoint::open(folder.path());
  const Checkpoint copy = *opened;
  Checkpoint assigned = Checkpoint::open(folder.path());
  assigned = copy;
  EXPECT_EQ(assigned.find("a"), copy.find("a"));  // they share one set of open files
  opened.reset();
  EXPECT_EQ(copy.find("a")->bytes[7], std::byte{1});
}

TEST(Checkpoint, CanBeMadeOfTensorsInMemory) {
  const Bytes bytes = to_bytes(std::string_view(kBytes).substr(0, 8));
  const TensorView b{"deberta.encoder.b", DType::kF32, {2}, bytes}, c{"classifier.weight", DType::kF16, {2, 2}, bytes};
  const Checkpoint checkpoint = Checkpoint::from_memory({b, c}, "training");
  EXPECT_EQ(names_in(checkpoint), (Names{"classifier.weight", "encoder.b"}));
  EXPECT_EQ(checkpoint.find("encoder.b")->bytes.data(), bytes.data());
  EXPECT_EQ(checkpoint.stored_name("encoder.b"), "deberta.encoder.b");
  EXPECT_EQ(checkpoint.prefix(), "deberta.");
  EXPECT_EQ(checkpoint.paths(), Names{"training"});
  EXPECT_EQ(checkpoint.size_bytes(), 16u);
  const std::vector<std::byte> zeros(4);
  const Checkpoint more =
      replace_tensors(checkpoint, {{"encoder.b", DType::kF32, {1}, zeros}, {"d", DType::kF32, {1}, zeros}});
  EXPECT_EQ(names_in(more), (Names{"classifier.weight", "d", "encoder.b"}));
  EXPECT_EQ(more.paths(), Names{"training"});
  EXPECT_ERROR(Checkpoint::from_memory({b, b}, "training"), kTensors,
               "training: tensor encoder.b: stored under two names");
  EXPECT_ERROR(Checkpoint::from_memory({{"a", DType::kF32, {3}, bytes}}, "training"), kTensors,
               "training: tensor a: expected the bytes of F32 [3], got 8 bytes");
  const Checkpoint none = Checkpoint::from_memory({}, "training");
  EXPECT_TRUE(none.tensors().empty());
}

TEST(Checkpoint, NamesWhatItLookedForWhenThereIsNothing) {
  const TemporaryFolder folder;
  EXPECT_ERROR(Checkpoint::open(folder.path()), kFolder, "an empty folder");
  write_text(folder.path("file"), "");
  EXPECT_ERROR(Checkpoint::open(folder.path()), kFileNotFound,
               "expected model.safetensors or model.safetensors.index.json, pytorch_model.bin or "
               "pytorch_model.bin.index.json");
  EXPECT_ERROR(Checkpoint::open(folder.path("absent")), kFileNotFound, "expected a folder");
  EXPECT_ERROR(Checkpoint::open(folder.path("file")), kFileNotFound, "expected a folder");
}

TEST(Checkpoint, ReadsPickledWeightsOnlyWhereNoSafetensorsAre) {
  const TemporaryFolder folder;
  write_text(folder.path("pytorch_model.bin"), test::small_bin());
  EXPECT_EQ(names_in(Checkpoint::open(folder.path())), Names{"a"});
  write_names(folder.path("one.safetensors"), {"deberta.b"});
  write_text(folder.path("model.safetensors.index.json"), R"({"weight_map": {"deberta.b": "one.safetensors"}})");
  EXPECT_EQ(names_in(Checkpoint::open(folder.path())), Names{"b"});
  write_names(folder.path("model.safetensors"), {"deberta.c"});
  EXPECT_EQ(names_in(Checkpoint::open(folder.path())), Names{"c"});
}

TEST(Checkpoint, KeepsTheBytesOfPickledWeights) {
  const TemporaryFolder folder;
  write_text(folder.path("pytorch_model.bin"), test::small_bin());
  const Checkpoint checkpoint = [&] { return Checkpoint::open(folder.path()); }();
  EXPECT_EQ(to_fp32(*checkpoint.find("a")), (std::vector<float>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(checkpoint.size_bytes(), 24u);
}

TEST(Checkpoint, GivesPickledWeightsCanonicalNames) {
  const TemporaryFolder folder;
  const std::string_view bytes = std::string_view(kBytes).substr(0, 8);
  for (const std::string prefix : {"deberta.", "bert.", ""}) {
    const std::vector<TensorView> tensors = {
        {prefix + "embeddings.word_embeddings._weight", DType::kF32, {2}, to_bytes(bytes)},
        {"cls.predictions.bias", DType::kF32, {2}, to_bytes(bytes)}};
    write_text(folder.path("pytorch_model.bin"), test::bin_of(tensors, test::BinForm::kLegacy));
    const Checkpoint checkpoint = Checkpoint::open(folder.path());
    EXPECT_EQ(checkpoint.prefix(), prefix);
    EXPECT_EQ(names_in(checkpoint), (Names{"embeddings.word_embeddings._weight", "lm_predictions.lm_head.bias"}));
  }
}

// Values are stored uncompressed, so one can be changed in place; the CRC-32 then no longer matches.
TEST(Checkpoint, SkipsChecksumsOnlyOnRequest) {
  const TemporaryFolder folder;
  std::string bytes = test::small_bin();
  const size_t at = bytes.find(test::six_floats());
  ASSERT_NE(at, std::string::npos);
  bytes[at + 3] = 0x40;  // 1 becomes about 4
  write_text(folder.path("pytorch_model.bin"), bytes);
  EXPECT_ERROR(Checkpoint::open(folder.path()), kBin, "CRC-32");
  for (const bool reads_whole : {false, true}) {
    const Checkpoint checkpoint = Checkpoint::open(folder.path(), {.reads_whole = reads_whole, .checks_crc = false});
    EXPECT_EQ(to_fp32(*checkpoint.find("a"))[1], 2.0F);
    EXPECT_NE(to_fp32(*checkpoint.find("a"))[0], 1.0F);
  }
}

TEST(Checkpoint, CanBeReadInsteadOfMapped) {
  const TemporaryFolder folder;
  const std::string path = folder.path("model.safetensors");
  write_names(path, {"deberta.a"});
  const Checkpoint checkpoint = Checkpoint::open(folder.path(), {.reads_whole = true, .checks_crc = true});
  std::filesystem::resize_file(path, 8);
  EXPECT_EQ(checkpoint.find("a")->bytes[7], std::byte{1});
}

// Something else under the file's name is an error, not a reason to look further.
TEST(Checkpoint, DoesNotIgnoreABadFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path("model.safetensors");
  write_text(folder.path("pytorch_model.bin"), "anything");
  std::filesystem::create_directory(path);
  EXPECT_ERROR(Checkpoint::open(folder.path()), kFileType, "got a folder");
  std::filesystem::remove(path);
  std::filesystem::create_symlink(folder.path("nowhere"), path);
  EXPECT_ERROR(Checkpoint::open(folder.path()), kFileNotFound, "cannot open");
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_ERROR(Checkpoint::open(folder.path()), kFileType, "special file");
  std::filesystem::remove(path);
  write_text(path, "short");
  EXPECT_ERROR(Checkpoint::open(folder.path()), kSafetensors, "at least 8 bytes");
}

class Shards : public testing::Test {
 protected:
  Shards() {
    write_names(folder.path("one.safetensors"), {"deberta.a", "deberta.b"});
    write_names(folder.path("two.safetensors"), {"deberta.c", "classifier.weight"});
  }
  Checkpoint open_with(const std::string& weight_map) {
    write_text(folder.path("model.safetensors.index.json"),
               "{\"metadata\": {\"total_size\": 32}, \"weight_map\": " + weight_map + "}");
    return Checkpoint::open(folder.path());
  }
  const TemporaryFolder folder;
};

const std::string kRight =
    R"({"deberta.a": "one.safetensors", "deberta.b": "one.safetensors", "deberta.c": "two.safetensors", "classifier.weight": "two.safetensors"})";

TEST_F(Shards, AreOneCheckpoint) {
  const Checkpoint checkpoint = open_with(kRight);
  EXPECT_EQ(names_in(checkpoint), (Names{"a", "b", "c", "classifier.weight"}));
  EXPECT_EQ(checkpoint.prefix(), "deberta.");
  EXPECT_EQ(checkpoint.paths(), (Names{folder.path("one.safetensors"), folder.path("two.safetensors")}));
  EXPECT_EQ(checkpoint.size_bytes(), 32u);
}

TEST_F(Shards, ListEveryTensorThatIsMissingExtraOrElsewhere) {
  const std::string wrong =
      R"({"deberta.a": "one.safetensors", "deberta.c": "one.safetensors", "deberta.x": "two.safetensors", "classifier.weight": "two.safetensors"})";
  EXPECT_ERROR(open_with(wrong), kTensors, "one.safetensors: tensor \"deberta.b\": not in");
  EXPECT_ERROR(open_with(wrong), kTensors, "two.safetensors: tensor \"deberta.c\": expected in one.safetensors only");
  EXPECT_ERROR(open_with(wrong), kTensors, "one.safetensors: tensor \"deberta.c\": missing");
  EXPECT_ERROR(open_with(wrong), kTensors, "two.safetensors: tensor \"deberta.x\": missing");
}

TEST_F(Shards, ATensorInTwoFilesIsRefused) {
  write_names(folder.path("two.safetensors"), {"deberta.c", "classifier.weight", "deberta.a"});
  EXPECT_ERROR(open_with(kRight), kTensors, "two.safetensors: tensor \"deberta.a\": expected in one.safetensors only");
}

TEST_F(Shards, HavePlainFileNames) {
  for (const std::string name :
       {"", ".", "..", "../one.safetensors", "/etc/passwd", "a/b", "a\\\\b", "one.safetensors\\u0000"}) {
    EXPECT_ERROR(open_with("{\"deberta.a\": \"" + name + "\"}"), kSafetensors, "expected a plain file name");
  }
  EXPECT_ERROR(open_with("{\"deberta.a\": 3}"), kSafetensors, "expected a plain file name, got 3");
  EXPECT_ERROR(open_with("{\"deberta.a\": \"" + std::string(256, 'n') + "\"}"), kSafetensors,
               "expected a plain file name");
}

TEST_F(Shards, AreAllThere) {
  EXPECT_ERROR(open_with(R"({"deberta.a": "three.safetensors", "deberta.b": "four.safetensors"})"), kFileNotFound,
               "three.safetensors: not found");
  EXPECT_ERROR(open_with(R"({"deberta.a": "three.safetensors", "deberta.b": "four.safetensors"})"), kFileNotFound,
               "four.safetensors: not found");
}

TEST_F(Shards, HaveAnIndexOfTheRightForm) {
  EXPECT_ERROR(open_with("{}"), kSafetensors, "at least one tensor");
  EXPECT_ERROR(open_with("[]"), kSafetensors, "an object weight_map");
  EXPECT_ERROR(open_with(R"({"a": "x", "a": "y"})"), kFileNotFound, "y: not found");  // as in Python, the last counts
  write_text(folder.path("model.safetensors.index.json"), "[]");
  EXPECT_ERROR(Checkpoint::open(folder.path()), kSafetensors, "an object weight_map");
  std::string many = "{\"t0\": \"f0\"";
  for (int i = 1; i <= 1000; ++i) many += ", \"t" + std::to_string(i) + "\": \"f" + std::to_string(i) + "\"";
  EXPECT_ERROR(open_with(many + "}"), kSafetensors, "at most 1000 files, got 1001");
}

// The same rules as for safetensors, with other file names.
class PickledShards : public testing::Test {
 protected:
  PickledShards() {
    write("one.bin", {"deberta.a", "deberta.b"}, test::BinForm::kZip);
    write("two.bin", {"deberta.c", "classifier.weight"}, test::BinForm::kLegacy);
  }
  void write(const std::string& name, const std::vector<std::string>& names, test::BinForm form) {
    std::vector<TensorView> tensors;
    for (const std::string& tensor : names)
      tensors.push_back({tensor, DType::kF32, {2}, to_bytes(std::string_view(kBytes).substr(0, 8))});
    write_text(folder.path(name), test::bin_of(tensors, form));
  }
  Checkpoint open_with(const std::string& weight_map) {
    write_text(folder.path("pytorch_model.bin.index.json"), "{\"weight_map\": " + weight_map + "}");
    return Checkpoint::open(folder.path());
  }
  const TemporaryFolder folder;
};

const std::string kRightBins =
    R"({"deberta.a": "one.bin", "deberta.b": "one.bin", "deberta.c": "two.bin", "classifier.weight": "two.bin"})";

TEST_F(PickledShards, AreOneCheckpoint) {
  const Checkpoint checkpoint = open_with(kRightBins);
  EXPECT_EQ(names_in(checkpoint), (Names{"a", "b", "c", "classifier.weight"}));
  EXPECT_EQ(checkpoint.paths(), (Names{folder.path("one.bin"), folder.path("two.bin")}));
  EXPECT_EQ(checkpoint.stored_name("a"), "deberta.a");
  write("pytorch_model.bin", {"only"}, test::BinForm::kZip);
  EXPECT_EQ(names_in(open_with(kRightBins)), Names{"only"});
}

TEST_F(PickledShards, ListEveryTensorThatIsMissingExtraOrElsewhere) {
  const std::string wrong = R"({"deberta.a": "one.bin", "deberta.c": "one.bin", "deberta.x": "two.bin"})";
  EXPECT_ERROR(open_with(wrong), kTensors, "one.bin: tensor \"deberta.b\": not in");
  EXPECT_ERROR(open_with(wrong), kTensors, "two.bin: tensor \"deberta.c\": expected in one.bin only");
  EXPECT_ERROR(open_with(wrong), kTensors, "two.bin: tensor \"deberta.x\": missing");
  write("two.bin", {"deberta.c", "classifier.weight", "deberta.a"}, test::BinForm::kZip);
  EXPECT_ERROR(open_with(kRightBins), kTensors, "two.bin: tensor \"deberta.a\": expected in one.bin only");
}

TEST_F(PickledShards, HaveAnIndexOfTheRightForm) {
  for (const std::string name : {"", "..", "../one.bin", "/etc/passwd", "a/b", "a\\\\b", "one.bin\\u0000"})
    EXPECT_ERROR(open_with("{\"deberta.a\": \"" + name + "\"}"), kBin, "expected a plain file name");
  EXPECT_ERROR(open_with("{}"), kBin, "at least one tensor");
  EXPECT_ERROR(open_with("[]"), kBin, "an object weight_map");
  EXPECT_ERROR(open_with(R"({"a": "x", "a": "y"})"), kFileNotFound, "y: not found");  // as in Python, the last counts
  EXPECT_ERROR(open_with(R"({"deberta.a": "three.bin"})"), kFileNotFound, "three.bin: not found");
  write_names(folder.path("plain"), {"deberta.a"});
  EXPECT_ERROR(open_with(R"({"deberta.a": "plain"})"), kBin, "expected a torch.save file");
  std::string many = "{\"t0\": \"f0\"";
  for (int i = 1; i <= 1000; ++i) many += ", \"t" + std::to_string(i) + "\": \"f" + std::to_string(i) + "\"";
  EXPECT_ERROR(open_with(many + "}"), kBin, "at most 1000 files, got 1001");
}

TEST_F(Shards, GiveWayToOneFile) {
  write_names(folder.path("model.safetensors"), {"deberta.only"});
  EXPECT_EQ(names_in(open_with(kRight)), Names{"only"});
}

}  // namespace
}  // namespace deberta::checkpoint_test
