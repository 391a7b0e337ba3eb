#include "train/finetune/separate_files.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::train::separate_files_test {
namespace {

using test::write_text;

TEST(SeparateFiles, ATrainingFileAndItsCopyAreRefusedAndOthersAreNot) {
  const test::TemporaryFolder folder;
  const std::string train = folder.path("train.tsv"), dev = folder.path("dev.tsv"), copy = folder.path("copy.tsv");
  write_text(train, "a\t1\n");
  write_text(dev, "b\t1\n");
  write_text(copy, "a\t1\n");
  check_separate({train}, {});
  check_separate({train}, {dev});
  EXPECT_ERROR(check_separate({train}, {dev, train}), kUsage,
               "expected a file that is not a training file, got " + train + ";");
  EXPECT_ERROR(check_separate({dev, train}, {copy}), kUsage, "got " + copy + ", which has the same bytes as " + train);
  std::filesystem::create_symlink(train, folder.path("link.tsv"));
  EXPECT_ERROR(check_separate({folder.path("link.tsv")}, {train}), kUsage, "which has the same bytes as");
  write_text(train, "");
  write_text(dev, "");
  check_separate({train}, {dev});  // files without rows are refused by those that read them
}

TEST(SeparateFiles, FoldersAreTheirFiles) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directories(folder.path("train"));
  std::filesystem::create_directories(folder.path("dev"));
  write_text(folder.path("train/1.txt"), "one");
  write_text(folder.path("dev/1.txt"), "two");
  check_separate({folder.path("train")}, {folder.path("dev")});
  write_text(folder.path("dev/2.txt"), "one");
  EXPECT_ERROR(check_separate({folder.path("train")}, {folder.path("dev")}), kUsage, "dev/2.txt");
}

}  // namespace
}  // namespace deberta::train::separate_files_test
