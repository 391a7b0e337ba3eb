// All reports of a folder: which are written when, and what is left alone.
#include "train/report/reports.h"

#include <gtest/gtest.h>

#include "base/folder.h"
#include "base/json.h"
#include "support/expect_error.h"
#include "train/report/model_card.h"
#include "train/report/predictions.h"
#include "train/report/report_case.h"
#include "train/report/result_files.h"

namespace deberta::train::reports_test {
namespace {

using test::RunCase;

TEST(Reports, OfAFinishedRunAreAllThere) {
  const RunCase run;
  run.make_whole();
  const WrittenReports written = rebuild_reports(run.path());
  EXPECT_EQ(written.files, (std::vector<std::string>{"run.html", "tb", "train_results.json", "eval_results.json",
                                                     "trainer_state.json", "README.md"}));
  EXPECT_TRUE(written.notes.empty());
  for (const std::string& name : written.files) EXPECT_TRUE(run.has(name)) << name;
  EXPECT_EQ(names_in(run.path("tb")).size(), 1u);
}

TEST(Reports, OfARunThatIsNotFinishedAreThePageAndTensorBoard) {
  const RunCase run;
  run.write(kMetricsName, "{\"step\": 1, \"loss\": 1}\n");
  EXPECT_EQ(rebuild_reports(run.path()).files, (std::vector<std::string>{"run.html", "tb"}));
  EXPECT_FALSE(run.has("README.md"));
}

TEST(Reports, LeaveTheFilesOfARunThatWritesToThem) {
  const RunCase run;
  run.make_whole();
  const FolderLock run_of_another_process(run.path());
  const WrittenReports written = rebuild_reports(run.path());
  EXPECT_EQ(written.files, (std::vector<std::string>{"run.html"}));
  ASSERT_EQ(written.notes.size(), 1u);
  EXPECT_NE(written.notes[0].find("a run is writing to this folder"), std::string::npos);
}

TEST(Reports, NeverReplaceACardThatAPersonChanged) {
  const RunCase run;
  run.make_whole();
  rebuild_reports(run.path());
  run.write(kResultsName, "{\"steps\": 20, \"eval_accuracy\": 0.75}");
  EXPECT_TRUE(rebuild_reports(run.path()).notes.empty());
  EXPECT_NE(run.text(kCardName).find("0.75"), std::string::npos) << "our own follows the run";
  const std::string changed = "Mine.\n" + run.text(kCardName);
  run.write(kCardName, changed);
  const WrittenReports written = rebuild_reports(run.path());
  EXPECT_EQ(run.text(kCardName), changed);
  ASSERT_EQ(written.notes.size(), 1u);
  EXPECT_EQ(written.notes[0], run.path(kCardName) + ": this file was edited, and is kept as it is");
}

TEST(Reports, ShowTheAnswersOfTheEvaluation) {
  const RunCase run;
  run.make_whole();
  write_predictions(run.path(kPredictionsName),
                    {PredictionKind::kClass, {{.where = "f:1", .text = "t", .gold = "a", .predicted = "b"}}});
  rebuild_reports(run.path());
  EXPECT_NE(run.text(kPageName).find("Confusion matrix"), std::string::npos);
  run.write(kPredictionsName, "{}\n");
  const WrittenReports written = rebuild_reports(run.path());
  ASSERT_EQ(written.notes.size(), 1u);
  EXPECT_NE(written.notes[0].find("eval_predictions.jsonl:1: gold: missing"), std::string::npos);
  EXPECT_NE(run.text(kPageName).find("gold: missing"), std::string::npos);
}

TEST(Reports, HaveResultsAsTheScriptsOfHuggingFaceWriteThem) {
  const RunCase run;
  run.make_whole();
  const RunRecord record = run.record();
  EXPECT_EQ(train_results(record).dump(),
            "{\"steps\": 20, \"tokens\": 1280, \"train_runtime\": 3.5, \"train_loss\": 2.25}");
  EXPECT_EQ(evaluation_results(record).dump(), "{\"eval_accuracy\": 0.5}");
  const Json state = trainer_state(record);
  EXPECT_EQ(state.find("global_step")->as_integer(), 20);
  EXPECT_EQ(state.find("train_batch_size")->as_integer(), 8);
  EXPECT_TRUE(state.find("best_metric")->is_null());
  ASSERT_EQ(state.find("log_history")->as_array().size(), 4u);
  EXPECT_EQ(state.find("log_history")->as_array()[1].dump(), "{\"step\": 10, \"eval_accuracy\": 0.25}");
}

TEST(Reports, SayWhatIsWrongWithAFolder) {
  const RunCase run;
  EXPECT_ERROR(rebuild_reports(run.path()), kFileNotFound, "expected the folder of a run");
  run.write(kMetricsName, "");
  run.write("tb", "a file");
  EXPECT_ERROR(rebuild_reports(run.path()), kFileWrite, "/tb");
}

}  // namespace
}  // namespace deberta::train::reports_test
