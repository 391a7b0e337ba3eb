// Plans whose runs are made up: which of them run, what is kept, and how a plan ends.
#include "train/ablation/runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "base/file.h"
#include "deberta/error.h"
#include "support/expect_error.h"
#include "support/paths.h"
#include "train/state/run_folder.h"

namespace deberta::train {
namespace {

constexpr const char* kModelPlan = R"({
  "model": "model",
  "tasks": {"cola": {"metric": "matthews_correlation", "train-file": "cola.tsv"}},
  "seeds": [1, 2],
  "forms": {"full": {}, "slow": {"finetune": {"learning-rate": 0.5}}}})";

class AblationRunnerTest : public testing::Test {
 protected:
  AblationRunnerTest() {
    std::filesystem::create_directory(folder_.path("model"));
    test::write_text(folder_.path("cola.tsv"), "\n");
    test::write_text(folder_.path("plan.json"), kModelPlan);
    settings_.output = folder_.path("out");
    hooks_ = {.check_options = [](const auto&, const auto&) { return WrongOptions(); },
              .pretraining_facts = [](const auto&) { return PretrainingFacts(); },
              .run = [this](const CellRun& run, const auto& on_progress) { return play(run, on_progress); },
              .on_begin = [](size_t, double) {},
              .on_progress = [this](size_t, double fraction) { fractions_.push_back(fraction); },
              .on_note = [](const std::string&) {},
              .is_stopped = [this] { return is_stopped_; }};
  }

  // What a fine-tuning leaves behind.
  RunEnd play(const CellRun& run, const std::function<void(double)>& on_progress) {
    runs_.push_back(run);
    on_progress(0.5);
    on_progress(1);
    if (status_ != 0) return {.status = status_, .last_line = "it had no room"};
    std::filesystem::create_directories(run.folder + "/checkpoint-000007");
    test::write_text(run.folder + "/" + kResultsName, R"({"eval_matthews_correlation": 0.25})");
    test::write_text(run.folder + "/" + kMetricsName, "");
    return {};
  }
  bool go() {
    runs_.clear();
    return run_ablation(load_plan(folder_.path("plan.json")), settings_, hooks_);
  }
  std::string out(const std::string& name) const { return settings_.output + "/" + name; }

  test::TemporaryFolder folder_;
  AblationSettings settings_;
  AblationHooks hooks_;
  std::vector<CellRun> runs_;
  std::vector<double> fractions_;
  bool is_stopped_ = false;
  int status_ = 0;
};

TEST_F(AblationRunnerTest, EachCellRunsOnceFromTheModelAndItsOptions) {
  EXPECT_TRUE(go());
  ASSERT_EQ(runs_.size(), 4u);
  EXPECT_EQ(runs_[2].verb, "finetune");
  EXPECT_EQ(runs_[2].folder, out("slow-seed1/cola"));
  EXPECT_EQ(runs_[2].model, folder_.path("model"));
  const std::string options = read_file(runs_[2].options, 1 << 16);
  EXPECT_NE(options.find("\"learning-rate\": 0.5"), std::string::npos) << options;
  EXPECT_NE(options.find(folder_.path("cola.tsv")), std::string::npos) << options;
  EXPECT_TRUE(std::ranges::is_sorted(fractions_));
  EXPECT_DOUBLE_EQ(fractions_.back(), 1);
  EXPECT_TRUE(go());
  EXPECT_TRUE(runs_.empty());
}

TEST_F(AblationRunnerTest, AFinishedCellKeepsItsResultAndNoCheckpoint) {
  settings_.results = folder_.path("kept");
  EXPECT_TRUE(go());
  for (const std::string& folder : {settings_.output, settings_.results}) {
    EXPECT_TRUE(is_regular_file(folder + "/full-seed2.json"));
    EXPECT_TRUE(is_regular_file(folder + "/full-seed2.jsonl"));
  }
  EXPECT_FALSE(is_directory(out("full-seed2/cola/checkpoint-000007")));
  EXPECT_NE(read_file(out("table.md"), 1 << 16).find("full"), std::string::npos);
  settings_.output = folder_.path("other");
  EXPECT_TRUE(go());
  EXPECT_TRUE(runs_.empty()) << "their results are kept elsewhere";
}

TEST_F(AblationRunnerTest, WhatIsStoppedGoesOnWithTheNextCell) {
  hooks_.on_progress = [this](size_t done, double) { is_stopped_ = done == 2; };
  EXPECT_FALSE(go());
  EXPECT_EQ(runs_.size(), 3u) << "the third was stopped";
  EXPECT_FALSE(is_regular_file(out("slow-seed1.json")));
  is_stopped_ = false;
  hooks_.on_progress = [](size_t, double) {};
  EXPECT_TRUE(go());
  EXPECT_EQ(runs_.size(), 2u);
}

TEST_F(AblationRunnerTest, ARunThatFailsEndsThePlanWithItsLastLine) {
  status_ = 137;
  EXPECT_ERROR(go(), kInput,
               "full-seed1/cola: its run ended with code 137: it had no room; see " + out("full-seed1/log.txt"));
  EXPECT_EQ(runs_.size(), 1u);
}

TEST_F(AblationRunnerTest, AFolderWithFilesOfThePlanOrOfAnotherIsRefusedBeforeAnythingIsWritten) {
  settings_.output = folder_.path();
  EXPECT_ERROR(go(), kUsage, "output_dir: expected a folder without the files of the plan, got ");
  settings_.output = folder_.path("out");
  EXPECT_TRUE(go());
  test::write_text(folder_.path("plan.json"),
                   std::string(kModelPlan).replace(std::string(kModelPlan).find("0.5"), 3, "0.25"));
  EXPECT_ERROR(go(), kUsage, "holds runs of another plan: slow-seed1 has other options; give another folder");
  EXPECT_TRUE(runs_.empty());
}

TEST_F(AblationRunnerTest, WrongOptionsAreToldWithTheirPlaceInThePlan) {
  hooks_.check_options = [](const std::string& verb, const JsonObject& options) {
    WrongOptions wrong;
    for (const auto& [name, value] : options) {
      if (name == "learning-rate") wrong.emplace_back(name, "no number of " + verb);
    }
    return wrong;
  };
  EXPECT_ERROR(go(), kUsage, "plan.json: forms.slow.finetune.learning-rate: no number of finetune");
  EXPECT_FALSE(is_directory(settings_.output));
}

}  // namespace
}  // namespace deberta::train
