// pytorch_model.bin: files from PyTorch and from our own writer give the same tensors as their safetensors; everything
// else is refused, and no code in a file runs.
#include "checkpoint/bin_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "checkpoint/safetensors.h"
#include "deberta/checkpoint.h"
#include "support/bad_bin.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "support/tiny_model.h"
#include "support/warnings.h"

namespace deberta::bin_file_test {
namespace {

using test::BinForm;
using test::fixture;
using test::push_number;
using test::push_storage;
using test::push_tensor;
using test::push_tuple;
using test::TemporaryFolder;
using test::write_text;

void expect_equal(const Checkpoint& got, const Checkpoint& expected) {
  ASSERT_EQ(got.tensors().size(), expected.tensors().size());
  for (size_t i = 0; i < expected.tensors().size(); ++i) {
    const TensorView& a = got.tensors()[i];
    const TensorView& b = expected.tensors()[i];
    SCOPED_TRACE(b.name);
    EXPECT_EQ(a.name, b.name);
    EXPECT_EQ(a.dtype, b.dtype);
    EXPECT_EQ(a.shape, b.shape);
    EXPECT_EQ(to_text(a.bytes), to_text(b.bytes));
  }
}

// The files hold all types, a parameter, two names for one tensor, and slices, transposed and empty tensors.
TEST(BinFile, ReadsWhatPyTorchWrote) {
  const Checkpoint expected = Checkpoint::open_file(fixture("bin/same.safetensors"));
  ASSERT_EQ(expected.tensors().size(), 19u);
  for (const std::string name : {"bin/zip.bin", "bin/legacy.bin"}) {
    SCOPED_TRACE(name);
    const Checkpoint checkpoint = Checkpoint::open_file(fixture(name));
    EXPECT_EQ(checkpoint.prefix(), "deberta.");
    EXPECT_EQ(checkpoint.paths(), std::vector<std::string>{fixture(name)});
    expect_equal(checkpoint, expected);
  }
}

// Written by torch.save in every protocol (tests/support/make_published_fixtures.py).
TEST(BinFile, SkipsEntriesThatAreNotTensors) {
  for (const std::string form : {"zip", "legacy"}) {
    for (const std::string protocol : {"2", "3", "4", "5"}) {
      const std::string path = fixture("published/bin/" + form + protocol + ".bin");
      SCOPED_TRACE(path);
      const BinFile file(path);
      ASSERT_EQ(file.tensors().size(), 3u);
      EXPECT_EQ(file.tensors()[0].name, "deberta.a");
      EXPECT_EQ(to_fp32(file.tensors()[0]), (std::vector<float>{0, 1, 2, 3, 4, 5}));
      EXPECT_EQ(file.tensors()[1].name, "deberta.marked");
      EXPECT_EQ(to_fp32(file.tensors()[1]), (std::vector<float>{1.5F, -2}));
      EXPECT_EQ(to_int64(file.tensors()[2]), (std::vector<int64_t>{3, 4}));
      EXPECT_EQ(
          file.passed_over(),
          (std::vector<std::string>{"\"config\" (dict)", "\"epoch\" (integer)", "\"loss\" (float)", "\"name\" (string)",
                                    "\"nothing\" (None)", "\"done\" (bool)", "\"steps\" (list)"}));
      const test::Warnings warnings;
      const Checkpoint checkpoint = Checkpoint::open_file(path);
      EXPECT_EQ(checkpoint.tensors().size(), 3u);
      EXPECT_EQ(warnings.text, path +
                                   ": 7 entries that are not tensors are ignored: \"config\" (dict), \"epoch\" "
                                   "(integer), \"loss\" (float), \"name\" (string), \"nothing\" (None), \"done\" "
                                   "(bool), \"steps\" (list)\n");
    }
  }
}

TEST(BinFile, SaysThatATrainingStateIsNotAModel) {
  EXPECT_ERROR(
      BinFile(fixture("published/bin/training.bin")), kBin,
      "got them inside \"model_state_dict\" (dict): the state of a training run, not a model; save the model with "
      "save_pretrained");
}

TEST(BinFile, GivesTheSameModelAsSafetensors) {
  const TemporaryFolder folder;
  test::write_tiny_model(folder.path(), test::tiny_config(), Head::kSequence);
  const std::string path = folder.path("model.safetensors");
  const SafetensorsFile file(path);
  const Checkpoint expected = Checkpoint::open(folder.path());
  std::filesystem::remove(path);  // files already open stay mapped
  for (const BinForm form : {BinForm::kZip, BinForm::kLegacy}) {
    write_text(folder.path("pytorch_model.bin"), test::bin_of(file.tensors(), form));
    expect_equal(Checkpoint::open(folder.path()), expected);
  }
}

// In a block of exactly their size, so that AddressSanitizer sees every read outside it.
BinTensors parse(const std::string& bytes) {
  const std::vector<char> exact(bytes.begin(), bytes.end());
  return parse_bin(std::as_bytes(std::span(exact)), "w.bin");
}

TEST(BinFile, RefusesEveryBrokenFileWithItsRule) {
  for (const auto& table : {test::bad_state_dicts(), test::bad_legacy_files()}) {
    for (const test::BadFile& file : table) {
      SCOPED_TRACE(file.name);
      EXPECT_ERROR(parse(file.bytes), kBin, file.part);
      EXPECT_ERROR(parse(file.bytes), kBin, "w.bin: ");
    }
  }
}

// What the zip and pickle tests refuse must be refused as a file too.
TEST(BinFile, RefusesBrokenArchivesAndPickles) {
  for (const test::BadFile& file : test::bad_zips()) {
    SCOPED_TRACE(file.name);
    EXPECT_ERROR(parse(file.bytes), kBin, "w.bin: ");
  }
  for (const test::BadFile& file : test::bad_pickles()) {
    if (file.bytes.size() > 100000) continue;
    SCOPED_TRACE(file.name);
    EXPECT_ERROR(parse(test::zip_bin(file.bytes, {})), kBin, "w.bin: ");
    EXPECT_ERROR(parse(test::legacy_bin(file.bytes, {})), kBin, "w.bin: ");
  }
}

TEST(BinFile, RunsNothing) {
  const TemporaryFolder folder;
  const std::string touched = folder.path("made");
  const std::string call = test::push_global("os", "system") + push_tuple({test::push_text("touch " + touched)}) + "R";
  for (const std::string& object : {test::pickle(call), test::pickle(test::push_state_dict({{"a", call}}))}) {
    for (const std::string& bytes : {test::zip_bin(object, {}), test::legacy_bin(object, {})}) {
      write_text(folder.path("pytorch_model.bin"), bytes);
      EXPECT_ERROR(Checkpoint::open(folder.path()), kBin, "\"system\" of \"os\" is not data");
      EXPECT_FALSE(std::filesystem::exists(touched));
    }
  }
}

// Two tensors with other bytes around them: about 2 KB.
std::string file_of_2_kilobytes(BinForm form) {
  const std::string bytes(1600, '\x05');
  const std::string_view view(bytes);
  return test::bin_of({{"deberta.a", DType::kF32, {10, 5}, to_bytes(view.substr(0, 200))},
                       {"b", DType::kF16, {800}, to_bytes(view.substr(0, 1600))}},
                      form);
}

TEST(BinFile, RefusesAFileCutAtEveryByte) {
  for (const BinForm form : {BinForm::kZip, BinForm::kLegacy}) {
    const std::string whole = file_of_2_kilobytes(form);
    ASSERT_GT(whole.size(), 2000u);
    for (size_t size = 0; size < whole.size(); ++size) {
      SCOPED_TRACE(size);
      EXPECT_ERROR(parse(whole.substr(0, size)), kBin, "w.bin");
    }
    EXPECT_EQ(parse(whole).views.size(), 2u);
  }
}

// Any change of one byte is refused or gives tensors inside the file; nothing is read outside it (AddressSanitizer).
TEST(BinFile, SurvivesAChangeOfEachByte) {
  for (const BinForm form : {BinForm::kZip, BinForm::kLegacy}) {
    const std::string whole = test::small_bin(form);
    for (size_t i = 0; i < whole.size(); ++i) {
      for (const char bit : {'\x01', '\x04', '\x20', '\x80'}) {
        std::string changed = whole;
        changed[i] = static_cast<char>(changed[i] ^ bit);
        try {
          for (const TensorView& tensor : parse(changed).views) EXPECT_LE(tensor.bytes.size(), 24u);
        } catch (const Error& error) {
          EXPECT_EQ(error.code(), ErrorCode::kBin) << i;
        }
      }
    }
  }
}

std::string with_tensors(const std::vector<std::pair<std::string, std::string>>& tensors) {
  return test::zip_bin(test::pickle(test::push_state_dict(tensors)), {{"0", test::six_floats()}});
}

TEST(BinFile, TwoTensorsMayShareAStorage) {
  const TemporaryFolder folder;
  const std::string path = folder.path("shared.bin");
  const std::string row = push_tensor(
      {.offset = push_number(3), .shape = push_tuple({push_number(3)}), .strides = push_tuple({push_number(1)})});
  write_text(path, with_tensors({{"a", push_tensor({})}, {"b", push_tensor({})}, {"row", row}}));
  const BinFile file(path);
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(to_text(file.tensors()[0].bytes), test::six_floats());
  EXPECT_EQ(file.tensors()[1].bytes.data(), file.tensors()[0].bytes.data()) << "views of the mapped file";
  EXPECT_EQ(file.tensors()[2].bytes.data(), file.tensors()[0].bytes.data() + 12);
  EXPECT_EQ(to_fp32(file.tensors()[2]), (std::vector<float>{4, 5, 6}));
}

TEST(BinFile, PutsTensorsIntoRowMajorOrder) {
  const TemporaryFolder folder;
  const std::string path = folder.path("strided.bin");
  const std::string transposed = push_tensor(
      {.shape = push_tuple({push_number(3), push_number(2)}), .strides = push_tuple({push_number(1), push_number(3)})});
  const std::string repeated = push_tensor({.offset = push_number(1),
                                            .shape = push_tuple({push_number(2), push_number(2)}),
                                            .strides = push_tuple({push_number(0), push_number(2)})});
  // The stride of a dimension of size 1 does not matter.
  const std::string any_stride = push_tensor({.shape = push_tuple({push_number(1), push_number(6)}),
                                              .strides = push_tuple({push_number(77), push_number(1)})});
  write_text(path, with_tensors({{"t", transposed}, {"r", repeated}, {"s", any_stride}}));
  BinFile moved(path);
  const BinFile file(std::move(moved));
  EXPECT_EQ(file.tensors()[0].shape, (Shape{3, 2}));
  EXPECT_EQ(to_fp32(file.tensors()[0]), (std::vector<float>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(to_fp32(file.tensors()[1]), (std::vector<float>{2, 4, 2, 4}));
  EXPECT_EQ(to_fp32(file.tensors()[2]), (std::vector<float>{1, 2, 3, 4, 5, 6}));
}

TEST(BinFile, ReadsParametersAndPlainDicts) {
  const TemporaryFolder folder;
  const std::string path = folder.path("plain.bin");
  const std::string object = test::pickle("}" + test::push_text("p") + test::push_parameter(push_tensor({})) + "s");
  write_text(path, test::zip_bin(object, {{"0", test::six_floats()}}));
  EXPECT_EQ(to_text(BinFile(path).tensors().at(0).bytes), test::six_floats());
}

TEST(BinFile, TakesAnEmptyStateDictAndEmptyTensors) {
  const TemporaryFolder folder;
  const std::string path = folder.path("empty.bin");
  write_text(path, with_tensors({}));
  EXPECT_TRUE(BinFile(path).tensors().empty());
  const int64_t large = (int64_t{1} << 53) - 1;
  const std::string none =
      push_tensor({.offset = push_number(6),
                   .shape = push_tuple({push_number(0), push_number(large), push_number(large)}),
                   .strides = push_tuple({push_number(large), push_number(large), push_number(1)})});
  write_text(path, with_tensors({{"none", none}}));
  EXPECT_EQ(BinFile(path).tensors().at(0).bytes.size(), 0u);
}

TEST(BinFile, RefusesWhatIsNotARegularFile) {
  const TemporaryFolder folder;
  const std::string path = folder.path("pytorch_model.bin");
  std::filesystem::create_directory(path);
  EXPECT_ERROR(Checkpoint::open(folder.path()), kFileType, "got a folder");
  std::filesystem::remove(path);
  std::filesystem::create_symlink(folder.path("nowhere"), path);
  EXPECT_ERROR(Checkpoint::open(folder.path()), kFileNotFound, "cannot open");
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_ERROR(Checkpoint::open(folder.path()), kFileType, "special file");
}

}  // namespace
}  // namespace deberta::bin_file_test
