// The folder of a run: created, locked, and refused when it does not belong to a run.
#include "train/state/run_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "support/expect_error.h"
#include "train/state/state_case.h"

namespace deberta::train::run_folder_test {
namespace {

using deberta::test::TemporaryFolder;
using deberta::test::write_text;

TEST(RunFolder, IsMadeAndTakenByOneRunAtATime) {
  const TemporaryFolder folder;
  const std::string path = folder.path("out");
  {
    const RunFolder first(path, true);
    EXPECT_TRUE(std::filesystem::is_directory(path));
    EXPECT_FALSE(first.checkpoint());
    EXPECT_ERROR(RunFolder(path, true), kFileWrite, "another run is writing to this folder");
  }
  EXPECT_NO_THROW(RunFolder(path, true));
}

TEST(RunFolder, LogsAloneAreARunThatBeginsAnew) {
  const TemporaryFolder folder;
  for (const char* name : {kMetricsName, kEventsName, kPageName}) write_text(folder.path(name), "");
  std::filesystem::create_directory(folder.path(kTensorBoardName));
  EXPECT_FALSE(RunFolder(folder.path(), true).checkpoint());
  write_text(folder.path(kEventsName), "{\"step\": 0, \"kind\": \"begun\", \"time\": 1.5}\n");
  write_text(folder.path(kMetricsName), "{\"step\": 1}\n");
  EXPECT_FALSE(RunFolder(folder.path(), true).checkpoint());
  write_text(folder.path("README.md"), "mine");
  EXPECT_ERROR(RunFolder(folder.path(), true), kFileWrite, "expected a new or empty folder");
}

TEST(RunFolder, FilesThatNoRunHasMadeAreRefusedByTheirContents) {
  for (const auto& [name, text] :
       {std::pair{kMetricsName, "{\"step\": 1, \"loss\": 2}\n"}, std::pair{kPageName, "<!doctype html>\n"},
        std::pair{kEventsName, "{\"name\": \"concert\"}\n"}, std::pair{kEventsName, "text"}}) {
    const TemporaryFolder folder;
    write_text(folder.path(name), text);
    EXPECT_ERROR(RunFolder(folder.path(), true), kFileWrite, "expected a new or empty folder");
    EXPECT_EQ(read_file(folder.path(name), 100), text);
  }
}

TEST(RunFolder, NothingIsWrittenThroughALink) {
  for (const char* name : {kMetricsName, kEventsName, kTensorBoardName, kPageName}) {
    for (const bool is_hard : {false, true}) {
      const TemporaryFolder folder, other;
      write_text(other.path("corpus"), "");
      if (is_hard)
        std::filesystem::create_hard_link(other.path("corpus"), folder.path(name));
      else
        std::filesystem::create_symlink(other.path("corpus"), folder.path(name));
      EXPECT_ERROR(RunFolder(folder.path(), true), kFileWrite, "got a link");
    }
  }
}

TEST(RunFolder, HalfWrittenResultsAndReportsAreRemoved) {
  const TemporaryFolder folder;
  const std::string mark = ".tmp-" + std::to_string(::getpid()) + "-01234567";
  write_text(folder.path(kPageName + mark), "");
  EXPECT_FALSE(RunFolder(folder.path(), true).checkpoint()) << "a page alone belongs to a run that begins anew";
  EXPECT_FALSE(std::filesystem::exists(folder.path(kPageName + mark)));
  test::save(folder.path(), 1);
  std::vector<std::string> left;
  for (const char* name : {"", "generator/", "discriminator/"}) {
    std::filesystem::create_directories(folder.path(name));
    for (const char* file : {"model.safetensors", "all_results.json", "README.md"})
      left.push_back(folder.path(name + (file + mark)));
  }
  for (const std::string& path : left) write_text(path, "half");
  write_text(folder.path("README.md"), "mine");
  const RunFolder run(folder.path(), true);
  for (const std::string& path : left) EXPECT_FALSE(std::filesystem::exists(path)) << path;
  EXPECT_TRUE(std::filesystem::exists(folder.path("README.md")));
}

TEST(RunFolder, CanBeReadInPeaceWhileNoRunWritesToIt) {
  const TemporaryFolder folder;
  {
    const RunFolder run(folder.path(), true);
    EXPECT_FALSE(FolderLock(folder.path()).is_held());
  }
  const FolderLock lock(folder.path());
  EXPECT_TRUE(lock.is_held());
  EXPECT_ERROR(RunFolder(folder.path(), true), kFileWrite, "another run is writing to this folder");
  EXPECT_FALSE(FolderLock(folder.path("absent")).is_held());
}

TEST(RunFolder, OtherFilesAreRefusedAndStay) {
  const TemporaryFolder folder;
  write_text(folder.path("thesis.txt"), "mine");
  EXPECT_ERROR(RunFolder(folder.path(), true), kFileWrite, "expected a new or empty folder");
  EXPECT_TRUE(std::filesystem::exists(folder.path("thesis.txt")));
  write_text(folder.path("file"), "x");
  EXPECT_ERROR(RunFolder(folder.path("file"), true), kFileWrite, "expected a folder");
}

TEST(RunFolder, FindsTheNewestCheckpointUnlessItMayNotGoOn) {
  const TemporaryFolder folder;
  test::save(folder.path(), 3);
  test::save(folder.path(), 5);
  EXPECT_EQ(RunFolder(folder.path(), true).checkpoint()->state.step, 5);
  EXPECT_ERROR(RunFolder(folder.path(), false), kUsage, "checkpoint-000005");
}

}  // namespace
}  // namespace deberta::train::run_folder_test
