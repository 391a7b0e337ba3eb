// metrics.jsonl: a line for each logged step, each step once.
#include "train/state/metrics_log.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cmath>
#include <csignal>
#include <limits>

#include "base/file.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::train::metrics_log_test {
namespace {

using deberta::test::TemporaryFolder;
using deberta::test::write_text;

class MetricsLogs : public testing::Test {
 protected:
  const TemporaryFolder folder_;
  const std::string path_ = folder_.path("metrics.jsonl");
  std::string text() const { return read_file(path_, 1 << 20); }
};

TEST_F(MetricsLogs, HaveAnObjectALineAtOnce) {
  MetricsLog log(path_, 0);
  log.write(10, {{"loss", 0.5}, {"lr", 0.25}});
  EXPECT_EQ(text(), "{\"step\": 10, \"loss\": 0.5, \"lr\": 0.25}\n");
  log.write(20, {{"loss", std::nan("")}, {"norm", std::numeric_limits<double>::infinity()}, {"x", -1.0 / 0.0}});
  EXPECT_EQ(text().substr(38), "{\"step\": 20, \"loss\": \"NaN\", \"norm\": \"Infinity\", \"x\": \"-Infinity\"}\n");
}

TEST_F(MetricsLogs, AreCutBackToTheStepThatTheRunGoesOnFrom) {
  {
    MetricsLog log(path_, 0);
    for (const int64_t step : {10, 20, 30, 40}) log.write(step, {{"loss", 1.0}});
  }
  const std::string whole = text();
  MetricsLog(path_, 40);
  EXPECT_EQ(text(), whole);
  MetricsLog(path_, 99);
  EXPECT_EQ(text(), whole);
  {
    MetricsLog log(path_, 25);  // a checkpoint between two lines
    EXPECT_EQ(text(), whole.substr(0, whole.size() / 2));
    log.write(30, {{"loss", 2.0}});
  }
  EXPECT_EQ(text(), whole.substr(0, whole.size() / 2) + "{\"step\": 30, \"loss\": 2.0}\n");
  MetricsLog(path_, 9);
  EXPECT_EQ(text(), "");
}

TEST_F(MetricsLogs, LoseALineThatIsNotWhole) {
  const std::string good = "{\"step\":1,\"loss\":1}\n{\"step\":2,\"loss\":1}\n";
  for (const char* bad : {"{\"step\":3,\"lo", "{", "\n", "\n\n", "{\"step\":3,\"lo\n", "{\"loss\":1}\n", "[]\n"}) {
    write_text(path_, good + bad);
    MetricsLog(path_, 5);
    EXPECT_EQ(text(), good) << bad;
  }
  write_text(path_, "{\"step\":1");
  MetricsLog(path_, 5);
  EXPECT_EQ(text(), "");
}

// The disk is full in the middle of a line, which then waits for the next.
TEST_F(MetricsLogs, HaveNoHalfLineAfterAFailureAndLoseNone) {
  MetricsLog log(path_, 0);
  log.write(1, {{"loss", 1.0}});
  const std::string good = text();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = good.size() + 5, .rlim_max = before.rlim_max};
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_ERROR(log.write(2, {{"loss", 1.0}}), kFileWrite, "metrics.jsonl: write failed");
  EXPECT_ERROR(log.sync(), kFileWrite, "metrics.jsonl: write failed");
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(text(), good);
  log.sync();
  EXPECT_EQ(text(), "{\"step\": 1, \"loss\": 1.0}\n{\"step\": 2, \"loss\": 1.0}\n");
  log.write(3, {{"loss", 1.0}});
  EXPECT_EQ(text().size(), 3 * good.size());
}

TEST_F(MetricsLogs, SayWhenTheyCannotBeWritten) {
  EXPECT_ERROR(MetricsLog(folder_.path("absent/a"), 0), kFileWrite, "absent/a: cannot open");
  EXPECT_ERROR(MetricsLog(folder_.path(), 0), kFileWrite, "cannot open");
  EXPECT_ERROR(MetricsLog("/dev/full", 0), kFileType, "/dev/full");
}

TEST_F(MetricsLogs, DoNotRepeatWhatIsWrittenAgainAfterTheLastCheckpoint) {
  for (int run = 0; run < 2; ++run) {
    MetricsLog log(path_, run == 0 ? 0 : 4);
    if (run == 0) log.write(4, {{"loss", 1.5}});
    EXPECT_EQ(log.write(4, {{"eval_accuracy", 0.5}}), run == 0);
  }
  EXPECT_EQ(text(), "{\"step\": 4, \"loss\": 1.5}\n{\"step\": 4, \"eval_accuracy\": 0.5}\n");
  MetricsLog(path_, 4).write(4, {{"loss", 1.5}});
  EXPECT_TRUE(text().ends_with("0.5}\n{\"step\": 4, \"loss\": 1.5}\n")) << "another line of the same step";
}

}  // namespace
}  // namespace deberta::train::metrics_log_test
