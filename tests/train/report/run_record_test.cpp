// A run as its folder tells it, also one that is damaged, goes on, or has lost its checkpoints.
#include "train/report/run_record.h"

#include <gtest/gtest.h>

#include <cmath>

#include "support/expect_error.h"
#include "train/report/report_case.h"

namespace deberta::train::run_record_test {
namespace {

using test::RunCase;

TEST(RunRecords, HaveWhatTheFolderTells) {
  const RunCase run;
  run.make_whole();
  const RunRecord record = run.record();
  EXPECT_TRUE(record.damage.empty()) << record.damage.front();
  EXPECT_EQ(record.metric_names(), (std::vector<std::string>{"loss", "learning_rate", "grad_norm", "tokens_per_s",
                                                             "tokens", "eval_accuracy"}));
  EXPECT_EQ(record.series("loss"), (std::vector<Point>{{10, 2.5}, {20, 2.25}}));
  EXPECT_EQ(record.last_value("eval_accuracy"), 0.5);
  EXPECT_EQ(record.last_value("absent"), std::nullopt);
  EXPECT_EQ(record.log.front().time, 1000);
  EXPECT_EQ(record.last_step(), 20);
  EXPECT_EQ(record.option("batch-size"), "8");
  EXPECT_EQ(record.checkpoints, (std::vector<int64_t>{20, 10}));
  ASSERT_NE(record.last_start(), nullptr);
  EXPECT_EQ(record.last_start()->step, 10);
}

TEST(RunRecords, TakeValuesThatAreNotFinite) {
  const RunCase run;
  run.write(kMetricsName, "{\"step\": 1, \"loss\": \"NaN\", \"norm\": \"Infinity\", \"word\": \"x\"}\n");
  const RunRecord record = run.record();
  EXPECT_TRUE(std::isnan(record.last_value("loss").value()));
  EXPECT_TRUE(std::isinf(record.last_value("norm").value()));
  EXPECT_EQ(record.metric_names().size(), 2u);
}

TEST(RunRecords, LeaveOutDamagedLinesAndSayHowMany) {
  const RunCase run;
  run.write(
      kMetricsName,
      "{\"step\": 1, \"loss\": 1}\n{\"step\": 2, \"lo\n\n{\"step\": -3, \"loss\": 1}\n{\"step\": 4, \"loss\": 4}\n");
  run.write(kEventsName, "nothing\n{\"step\": 1, \"kind\": \"began\"}\n");
  const RunRecord record = run.record();
  EXPECT_EQ(record.series("loss"), (std::vector<Point>{{1, 1}, {4, 4}}));
  EXPECT_EQ(record.events.size(), 1u);
  ASSERT_EQ(record.damage.size(), 2u);
  EXPECT_EQ(record.damage[0], run.path(kMetricsName) + ": 3 lines are damaged, the first is line 2");
  EXPECT_EQ(record.damage[1], run.path(kEventsName) + ": 1 lines are damaged, the first is line 1");
}

TEST(RunRecords, DoNotCallTheLineThatIsBeingWrittenDamaged) {
  const RunCase run;
  run.write(kMetricsName, "{\"step\": 1, \"loss\": 1}\n{\"step\": 2, \"lo");
  EXPECT_EQ(run.record().log.size(), 1u);
  EXPECT_TRUE(run.record().damage.empty());
}

TEST(RunRecords, ForgetStepsThatTheRunTookAgain) {
  const RunCase run;
  run.write(kMetricsName,
            "{\"step\": 1, \"a\": 1}\n{\"step\": 2, \"a\": 2}\n{\"step\": 3, \"a\": 3}\n{\"step\": 2, \"a\": 22}\n");
  EXPECT_EQ(run.record().series("a"), (std::vector<Point>{{1, 1}, {2, 2}, {2, 22}}));
}

TEST(RunRecords, TakeTheNewestStateThatCanBeRead) {
  const RunCase run;
  run.make_whole();
  run.write(checkpoint_name(20) + "/" + kStateName, "{");
  const RunRecord record = run.record();
  EXPECT_EQ(record.state->step, 10);
  ASSERT_EQ(record.damage.size(), 1u);
  EXPECT_NE(record.damage[0].find("checkpoint-000020/trainer/state.json"), std::string::npos);
}

TEST(RunRecords, NeedNoCheckpointAndNoLogButOneOfThem) {
  const RunCase run;
  EXPECT_ERROR(run.record(), kFileNotFound, "expected the folder of a run, with metrics.jsonl or checkpoints, got one");
  EXPECT_ERROR(load_run_record(run.path("absent")), kFileNotFound, "got none");
  run.add_checkpoint({.step = 5});
  EXPECT_EQ(run.record().last_step(), 5);
}

TEST(RunRecords, OfAPairHaveTheConfigurationOfTheDiscriminator) {
  const RunCase run;
  run.make_whole();
  std::filesystem::create_directory(run.path("discriminator"));
  std::filesystem::rename(run.path("config.json"), run.path("discriminator/config.json"));
  EXPECT_TRUE(run.record().config.has_value());
}

TEST(RunRecords, OfAWrongConfigurationHaveNoneAndSaySo) {
  const RunCase run;
  run.make_whole();
  run.write("config.json", "{\"hidden_size\": 12}");
  const RunRecord record = run.record();
  EXPECT_FALSE(record.config.has_value());
  ASSERT_EQ(record.damage.size(), 1u);
  EXPECT_NE(record.damage[0].find("config.json: vocab_size"), std::string::npos) << record.damage[0];
}

TEST(RunRecords, AreNamedAfterTheFolder) {
  for (const char* folder : {"a/model", "a/model/", "a/b/../model", "model"})
    EXPECT_EQ(RunRecord{.folder = folder}.name(), "model") << folder;
  EXPECT_EQ(RunRecord{.folder = "."}.name(), "run");
}

}  // namespace
}  // namespace deberta::train::run_record_test
