// The folder of a run: made, locked, and refused when it is somebody else's.
#include "train/state/run_folder.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/expect_error.h"
#include "train/state/state_case.h"

namespace deberta::train {
namespace {

using deberta::test::TemporaryFolder;
using deberta::test::write_text;

TEST(RunFolder, IsMadeAndTakenByOneRunAtATime) {
  const TemporaryFolder folder;
  const std::string path = folder.path("out");
  {
    const RunFolder first(path, true);
    EXPECT_TRUE(std::filesystem::is_directory(path));
    EXPECT_FALSE(first.found());
    EXPECT_ERROR(RunFolder(path, true), kFileWrite, "another run is writing to this folder");
  }
  EXPECT_NO_THROW(RunFolder(path, true));
}

TEST(RunFolder, ALogAloneIsARunThatBeginsAnew) {
  const TemporaryFolder folder;
  write_text(folder.path(kMetricsName), "");
  EXPECT_FALSE(RunFolder(folder.path(), true).found());
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
  EXPECT_EQ(RunFolder(folder.path(), true).found()->state.step, 5);
  EXPECT_ERROR(RunFolder(folder.path(), false), kUsage, "checkpoint-000005");
}

}  // namespace
}  // namespace deberta::train
