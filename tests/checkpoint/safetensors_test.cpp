// Reading: every rule of the format has a file that breaks it.
#include "checkpoint/safetensors.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/file.h"
#include "support/bad_safetensors.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::safetensors_test {
namespace {

using test::TemporaryFolder;
using test::write_text;

TEST(SafetensorsReader, RefusesEveryBrokenFileWithItsRule) {
  const TemporaryFolder folder;
  const std::string path = folder.path("bad.safetensors");
  for (const test::BadFile& file : test::bad_safetensors()) {
    SCOPED_TRACE(file.name);
    write_text(path, file.bytes);
    EXPECT_ERROR(SafetensorsFile{path}, kSafetensors, file.part);
    if (file.bytes.size() < 100000) EXPECT_ERROR(SafetensorsFile{path}, kSafetensors, "bad.safetensors: ");
  }
}

TEST(SafetensorsReader, AcceptsUnusualFiles) {
  const TemporaryFolder folder;
  const std::string path = folder.path("unusual.safetensors");
  for (const test::GoodFile& file : test::unusual_safetensors()) {
    SCOPED_TRACE(file.name);
    write_text(path, file.bytes);
    EXPECT_EQ(SafetensorsFile(path).tensors().size(), file.tensors);
  }
}

TEST(SafetensorsReader, RefusesASmallFileCutAtEveryByte) {
  const TemporaryFolder folder;
  const std::string path = folder.path("cut.safetensors");
  const std::string whole = test::small_safetensors();
  for (size_t size = 0; size < whole.size(); ++size) {
    write_text(path, whole.substr(0, size));
    SCOPED_TRACE(size);
    EXPECT_ERROR(SafetensorsFile{path}, kSafetensors, "cut.safetensors");
  }
  write_text(path, whole);
  EXPECT_EQ(SafetensorsFile(path).tensors().size(), 2u);
}

// Any change of one byte is refused or gives another valid file; nothing is read outside it (AddressSanitizer).
TEST(SafetensorsReader, SurvivesAChangeOfEachByte) {
  const TemporaryFolder folder;
  const std::string path = folder.path("changed.safetensors");
  const std::string whole = test::small_safetensors();
  for (size_t i = 0; i < whole.size() - 30; ++i) {
    for (const char bit : {'\x04', '\x20'}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ bit);
      write_text(path, changed);
      try {
        const SafetensorsFile file(path);
        for (const TensorView& tensor : file.tensors()) EXPECT_LE(tensor.bytes.size(), 30u);
      } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::kSafetensors) << i;
      }
    }
  }
}

TEST(SafetensorsReader, GivesTensorsInTheOrderOfTheBytesAndByName) {
  const TemporaryFolder folder;
  const std::string path = folder.path("small.safetensors");
  write_text(path, test::small_safetensors());
  const SafetensorsFile file(path);
  ASSERT_EQ(file.tensors().size(), 2u);
  EXPECT_EQ(file.tensors()[0].name, "weight");
  EXPECT_EQ(file.tensors()[0].shape, (Shape{2, 3}));
  EXPECT_EQ(file.tensors()[0].dtype, DType::kF32);
  EXPECT_EQ(file.tensors()[0].count(), 6u);
  ASSERT_NE(file.find("bias"), nullptr);
  EXPECT_EQ(file.find("bias")->bytes.size(), 6u);
  EXPECT_EQ(file.find("weight"), &file.tensors()[0]);
  EXPECT_EQ(file.find("none"), nullptr);
  EXPECT_EQ(file.metadata(), (Metadata{{"format", "pt"}}));
}

TEST(SafetensorsReader, StaysRightWhenMoved) {
  const TemporaryFolder folder;
  const std::string path = folder.path("small.safetensors");
  write_text(path, test::small_safetensors());
  SafetensorsFile first(path);
  const SafetensorsFile second(std::move(first));
  ASSERT_NE(second.find("weight"), nullptr);
  EXPECT_EQ(second.find("weight")->bytes[23], std::byte{1});
}

TEST(SafetensorsReader, RefusesWhatIsNotARegularFile) {
  const TemporaryFolder folder;
  ASSERT_EQ(::mkfifo(folder.path("fifo").c_str(), 0600), 0);
  std::filesystem::create_symlink(folder.path("nowhere"), folder.path("dangling"));
  EXPECT_ERROR(SafetensorsFile{folder.path()}, kFileType, "got a folder");
  EXPECT_ERROR(SafetensorsFile{folder.path("fifo")}, kFileType, "got a special file");
  EXPECT_ERROR(SafetensorsFile{"/dev/null"}, kFileType, "got a special file");
  EXPECT_ERROR(SafetensorsFile{folder.path("dangling")}, kFileNotFound, "dangling");
  EXPECT_ERROR(SafetensorsFile{folder.path("absent")}, kFileNotFound, "absent");
}

TEST(SafetensorsReader, FollowsALinkToAFile) {
  const TemporaryFolder folder;
  write_text(folder.path("blob"), test::small_safetensors());
  std::filesystem::create_symlink(folder.path("blob"), folder.path("link"));
  EXPECT_EQ(SafetensorsFile(folder.path("link")).tensors().size(), 2u);
}

}  // namespace
}  // namespace deberta::safetensors_test
