// A run of a learner whose model is one number: what is in its folder, which weights are where, and how it ends.
#include "train/run/run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/expect_error.h"
#include "support/paths.h"
#include "train/state/checkpoint_folder.h"
#include "train/state/event_log.h"
#include "train/state/run_folder.h"

namespace deberta::train::run_test {
namespace {

constexpr const char* kModel = "model.txt";

struct Plan {
  int64_t steps = 6;
  std::vector<int64_t> bad = {};                                         // steps that are not finite
  std::function<void(int64_t step)> before_step = [](int64_t) {};        // may throw
  std::function<void(double weight)> on_save = [](double) {};            // may throw
  std::function<void(const RunHooks&)> on_answers = [](const auto&) {};  // while they are written
  std::vector<Metrics> evaluations = {};                                 // one after the other; none: of the weight
};

// The weight is the number of steps that moved it, the average its half.
class CountingLearner : public Learner {
 public:
  explicit CountingLearner(const Plan& plan) : plan_(plan) {}

  int64_t total_steps() const override { return plan_.steps; }
  std::map<std::string, std::string> hashes() override { return {}; }
  void begin(int64_t) override {}
  StepReport step(const StepRequest& request, Sums& sums) override {
    plan_.before_step(request.step);
    const bool is_finite = std::ranges::find(plan_.bad, request.step) == plan_.bad.end();
    if (is_finite) average_ = ++weight_ / 2;
    sums["loss"] += 1;
    return {.is_finite = is_finite, .samples = 1, .tokens = 1};
  }
  Metrics metrics(const Sums& sums) const override { return {{"loss", sums.at("loss") / sums.at("steps")}}; }
  Metrics evaluate(EvaluationPart, const RunHooks&) override {
    if (plan_.evaluations.empty()) return {{"eval_weight", weight_}};
    return plan_.evaluations.at(evaluated_++);
  }
  std::vector<TensorView> optimizer_tensors() override { return {}; }
  void add_models(ManifestWriter& files) override {
    plan_.on_save(weight_);
    files.add_text(kModel, std::to_string(weight_));
  }
  uint64_t models_bytes() override { return 8; }
  void load(const std::string& checkpoint) override {
    weight_ = std::stod(read_file(checkpoint + "/" + kModel, 100));
    average_ = weight_ / 2;
  }
  void write_models(const std::string& folder) override {
    test::write_text(folder + "/" + kModel, std::to_string(weight_));
  }
  void write_answers(const std::string&, const RunHooks& hooks) override { plan_.on_answers(hooks); }
  void exchange_averages() override { std::swap(weight_, average_); }

 private:
  const Plan& plan_;
  size_t evaluated_ = 0;
  double weight_ = 0, average_ = 0;
};

class RunTest : public testing::Test {
 protected:
  RunTest() {
    settings_.output = folder_.path("out");
    settings_.schedule_settings.total = 1;
    settings_.save_steps = 1;
    settings_.logging_steps = 1;
  }

  RunResult go() {
    return run(
        settings_, [this](const RunHooks&) { return std::make_unique<CountingLearner>(plan_); }, hooks_);
  }
  std::string file(const std::string& name) const { return settings_.output + "/" + name; }
  double number(const std::string& name) const { return std::stod(read_file(file(name), 100)); }
  bool has(const std::string& name) const { return std::filesystem::exists(file(name)); }
  std::vector<int64_t> steps_of(const std::string& kind) const {
    std::vector<int64_t> steps;
    const std::string text = read_file(file(kEventsName), 1 << 20);
    for (size_t begin = 0, end = 0; (end = text.find('\n', begin)) != text.npos; begin = end + 1) {
      const auto event = parse_event(text.substr(begin, end - begin));
      if (event && event->kind == kind) steps.push_back(event->step);
    }
    return steps;
  }

  test::TemporaryFolder folder_;
  RunSettings settings_;
  Plan plan_;
  StopRequest request_ = StopRequest::kNone;
  RunHooks hooks_{.stop = [this] { return request_; }};
};

TEST_F(RunTest, EvaluationsAndTheResultAreOfTheAveragesAndCheckpointsOfTheWeights) {
  std::vector<double> evaluated;
  hooks_.on_log = [&](int64_t, const Metrics& metrics) {
    if (metrics.front().first == "eval_weight") evaluated.push_back(metrics.front().second);
  };
  settings_.eval_steps = 2;
  const RunResult result = go();
  EXPECT_EQ(evaluated, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(result.evaluation.front().second, 3);
  EXPECT_EQ(number(kModel), 3);
  EXPECT_EQ(number(checkpoint_name(5) + "/" + kModel), 5);
  EXPECT_EQ(number(checkpoint_name(6) + "/" + kModel), 6);
}

TEST_F(RunTest, TheBestIsTheGreaterOrOfLossesTheLowerAndOthersDecideBetweenEqualOnes) {
  const double nan = std::nan("");
  const struct {
    std::vector<std::string> metrics;
    std::vector<std::pair<double, double>> values;  // accuracy and loss of each evaluation
    int64_t best;
  } cases[] = {{{"eval_accuracy", "eval_loss"}, {{.5, 2}, {.7, 3}, {.6, 1}}, 2},
               {{"eval_loss", "eval_accuracy"}, {{.5, 2}, {.7, 3}, {.6, 1}}, 3},
               {{"eval_accuracy", "eval_loss"}, {{.7, 2}, {.7, 3}, {.7, 1}}, 3},
               {{"eval_accuracy", "eval_loss"}, {{.7, 1}, {.7, 1}, {.7, 1}}, 1},
               {{"eval_accuracy"}, {{.7, 2}, {.7, 1}, {.7, 1}}, 1},
               {{"eval_accuracy", "eval_loss"}, {{nan, 0}, {.1, 3}, {nan, 0}}, 2},
               {{"eval_accuracy", "eval_loss"}, {{.7, nan}, {.7, 2}, {.7, nan}}, 2},
               {{"eval_accuracy", "eval_other"}, {{.7, 1}, {.7, 2}, {.7, 3}}, 1}};
  for (const auto& test_case : cases) {
    settings_.output = folder_.path("out" + std::to_string(&test_case - cases));
    settings_.eval_steps = 1;
    settings_.best = BestRule{.metrics = test_case.metrics};
    plan_.steps = static_cast<int64_t>(test_case.values.size());
    plan_.evaluations.clear();
    for (const auto& [accuracy, loss] : test_case.values)
      plan_.evaluations.push_back({{"eval_accuracy", accuracy}, {"eval_loss", loss}});
    plan_.evaluations.push_back(plan_.evaluations.front());  // for the result, if its step is not the last
    EXPECT_EQ(go().best_step, test_case.best) << test_case.metrics.front() << ' ' << &test_case - cases;
  }
}

TEST_F(RunTest, WhereTheBestStepCannotBeSavedTheBestOfThoseThatWereIsTheResult) {
  const struct {
    std::vector<double> values;  // one evaluation for each step
    double lost;                 // the step that cannot be saved
    int64_t best;
  } cases[] = {{{.5, .9, .7, .6}, 2, 3}, {{.5, .9, .4, .3}, 2, 1}, {{.9, .7, .6}, 1, 2}, {{.5, .6, .9}, 3, 3}};
  for (const auto& test_case : cases) {
    settings_.output = folder_.path("lost" + std::to_string(&test_case - cases));
    settings_.eval_steps = 1;
    settings_.save_steps = 0;
    settings_.save_total_limit = 1;
    settings_.best = BestRule{.metrics = {"eval_accuracy"}};
    plan_.steps = static_cast<int64_t>(test_case.values.size());
    plan_.evaluations.clear();
    for (const double value : test_case.values) plan_.evaluations.push_back({{"eval_accuracy", value}});
    plan_.evaluations.push_back({{"eval_accuracy", 0.0}});  // for the result, if its step is not the last
    plan_.on_save = [&](double weight) {
      if (weight == test_case.lost) throw Error(ErrorCode::kFileWrite, "disk", "no space");
    };
    EXPECT_EQ(go().best_step, test_case.best) << &test_case - cases;
    EXPECT_EQ(number(kModel), static_cast<double>(test_case.best) / 2) << "the average";
  }
}

TEST_F(RunTest, WhatIsToldOfTheBeginningIsToldOfNoRunThatGoesOn) {
  std::vector<std::string> reported;
  hooks_.on_beginning = [&](const std::string& text) { reported.push_back(text); };
  const auto begin = [&] {
    return run(
        settings_,
        [this](const RunHooks& hooks) {
          hooks.on_beginning("new weights");
          return std::make_unique<CountingLearner>(plan_);
        },
        hooks_);
  };
  begin();
  EXPECT_EQ(reported, std::vector<std::string>{"new weights"});
  plan_.steps = 8;
  begin();
  EXPECT_EQ(reported.size(), 1u);
}

TEST_F(RunTest, EvaluationsThatAreNoNumbersAreNeverTheBest) {
  settings_.eval_steps = 1;
  settings_.best = BestRule{.metrics = {"eval_accuracy"}, .patience = 2};
  plan_.steps = 9;
  plan_.evaluations.assign(10, {{"eval_accuracy", std::nan("")}});
  const RunResult result = go();
  EXPECT_TRUE(result.is_early);
  EXPECT_EQ(result.steps, 2);
}

TEST_F(RunTest, AStateBeforeThisMetricGivesWayToTheFirstEvaluationByIt) {
  settings_.eval_steps = 1;
  settings_.best = BestRule{.metrics = {"eval_accuracy"}};
  plan_.steps = 3;
  plan_.before_step = [this](int64_t step) { request_ = step == 1 ? StopRequest::kStop : StopRequest::kNone; };
  plan_.evaluations.assign(10, {{"eval_accuracy", .9}, {"eval_f1", .5}});
  EXPECT_FALSE(go().is_finished);
  plan_.before_step = [](int64_t) {};
  request_ = StopRequest::kNone;
  settings_.best = BestRule{.metrics = {"eval_f1"}};
  EXPECT_EQ(go().best_step, 3);
}

TEST_F(RunTest, EvaluationsWithoutABetterOneEndTheRunAfterABreakToo) {
  settings_.eval_steps = 1;
  settings_.best = BestRule{.metrics = {"eval_accuracy", "eval_f1"}, .patience = 2};
  plan_.steps = 9;
  plan_.before_step = [this](int64_t step) { request_ = step == 2 ? StopRequest::kStop : StopRequest::kNone; };
  const Metrics equal = {{"eval_accuracy", .5}, {"eval_f1", .5}}, better = {{"eval_accuracy", .5}, {"eval_f1", .6}};
  plan_.evaluations = {equal, better, equal, equal, equal, equal};
  EXPECT_FALSE(go().is_finished);
  plan_.before_step = [](int64_t) {};
  request_ = StopRequest::kNone;
  plan_.evaluations = {{{"eval_accuracy", .5}, {"eval_f1", .7}}, equal, equal, equal, equal, equal, equal};
  const RunResult result = go();
  EXPECT_TRUE(result.is_early);
  EXPECT_EQ(result.best_step, 4);  // the f1 before the break is known after it
}

constexpr double kNoTime = 1e-9;  // over after the first step, on any machine

TEST_F(RunTest, TimeThatIsOverEndsItAfterAStepWithACheckpointAndAModel) {
  settings_.max_seconds = kNoTime;
  settings_.save_steps = 0;
  const RunResult result = go();
  EXPECT_TRUE(result.is_finished && result.is_out_of_time);
  EXPECT_EQ(result.steps, 1);
  EXPECT_EQ(result.total_steps, 6);
  EXPECT_EQ(number(checkpoint_name(1) + "/" + kModel), 1);
  EXPECT_EQ(number(kModel), .5) << "the average";
  EXPECT_NE(read_file(file(kResultsName), 1000).find("\"out_of_time\": true"), std::string::npos);
  EXPECT_EQ(steps_of(event::kOutOfTime), (std::vector<int64_t>{1}));
  EXPECT_TRUE(steps_of(event::kFinished).empty());
}

TEST_F(RunTest, ARunInPiecesOfTimeHasTheLogOfOneWithoutABreakAndItsResult) {
  std::vector<std::pair<int64_t, std::string>> lines;
  hooks_.on_log = [&](int64_t step, const Metrics& metrics) { lines.emplace_back(step, metrics.front().first); };
  settings_.eval_steps = 4;
  go();
  const auto whole = std::exchange(lines, {});
  settings_.output = folder_.path("pieces");
  settings_.max_seconds = kNoTime;
  for (int64_t step = 1; step < 6; ++step) EXPECT_EQ(go().steps, step);
  const RunResult last = go();
  EXPECT_TRUE(last.is_finished && !last.is_out_of_time) << "its last step is its end";
  EXPECT_EQ(lines, whole);
  EXPECT_EQ(number(kModel), 3);
  EXPECT_EQ(read_file(file(kResultsName), 1000).find("out_of_time"), std::string::npos);
  EXPECT_EQ(steps_of(event::kFinished), (std::vector<int64_t>{6}));
}

TEST_F(RunTest, TheStepThatTimeEndsAtMayBeTheBestWithoutTheRunsKnowing) {
  settings_.max_seconds = kNoTime;
  settings_.save_steps = 0;
  settings_.eval_steps = 2;
  settings_.best = BestRule{.metrics = {"eval_accuracy"}, .patience = 1};
  const auto go_with = [&](double accuracy) {
    plan_.evaluations.assign(3, {{"eval_accuracy", accuracy}});
    return go();
  };
  RunResult result = go_with(.9);
  EXPECT_EQ(result.best_step, 1);
  EXPECT_EQ(result.evaluation.front().second, .9);
  EXPECT_EQ(go_with(.5).best_step, 2) << "the first evaluation of the run itself";
  result = go_with(.4);
  EXPECT_EQ(result.best_step, 2);
  EXPECT_EQ(number(kModel), 1) << "the average of the best step";
  EXPECT_EQ(go_with(.6).best_step, 4);
  EXPECT_EQ(go_with(.9).best_step, 5);
  result = go_with(.2);
  EXPECT_TRUE(result.is_early) << "of its own evaluations, those of steps 2, 4 and 6";
  EXPECT_FALSE(result.is_out_of_time);
}

TEST_F(RunTest, AnEvaluationThatIsDueWhereTimeEndsIsMadeOnce) {
  settings_.max_seconds = kNoTime;
  settings_.eval_steps = 1;
  settings_.best = BestRule{.metrics = {"eval_accuracy"}};
  plan_.evaluations = {{{"eval_accuracy", .5}}};  // another would be too many
  EXPECT_EQ(go().evaluation.front().second, .5);
}

TEST_F(RunTest, MuchTimeChangesNothing) {
  settings_.max_seconds = 1e9;
  const RunResult result = go();
  EXPECT_EQ(result.steps, 6);
  EXPECT_FALSE(result.is_out_of_time);
}

TEST_F(RunTest, AStepThatIsNotFiniteIsLeftOutAndTheRunGoesOn) {
  plan_.steps = 9;
  plan_.bad = {1, 3, 4, 5, 6};  // five, but four in a row
  EXPECT_TRUE(go().is_finished);
  EXPECT_EQ(number(checkpoint_name(9) + "/" + kModel), 4);
  EXPECT_EQ(steps_of(event::kSkippedStep), plan_.bad);
}

TEST_F(RunTest, FiveStepsInARowThatAreNotFiniteEndIt) {
  plan_.steps = 20;
  plan_.bad = {2, 3, 4, 5, 6};
  EXPECT_ERROR(go(), kNotFinite,
               "step 6: the loss or its gradient was not finite in 5 steps in a row; the last good checkpoint is " +
                   file(checkpoint_name(6)));
  EXPECT_EQ(number(checkpoint_name(6) + "/" + kModel), 2);
  EXPECT_EQ(steps_of(event::kDiverged), (std::vector<int64_t>{7}));
}

TEST_F(RunTest, WhatWasCutOffOfARotationIsDoneWhenTheRunGoesOn) {
  settings_.save_total_limit = 9;
  go();
  EXPECT_TRUE(has(checkpoint_name(1)));
  settings_.save_total_limit = 2;
  go();
  EXPECT_FALSE(has(checkpoint_name(4)));
  EXPECT_TRUE(has(checkpoint_name(5)) && has(checkpoint_name(6)));
}

TEST_F(RunTest, IsNotFinishedBeforeItsAnswersAreWritten) {
  plan_.on_answers = [this](const RunHooks& hooks) {
    request_ = StopRequest::kStop;
    EXPECT_EQ(hooks.stop(), StopRequest::kStop);
  };
  EXPECT_FALSE(go().is_finished);
  EXPECT_FALSE(has(kResultsName));
  EXPECT_TRUE(steps_of(event::kFinished).empty());
  plan_.on_answers = [](const RunHooks&) {};
  request_ = StopRequest::kNone;
  EXPECT_TRUE(go().is_finished);
  EXPECT_TRUE(has(kResultsName));
  EXPECT_EQ(number(kModel), 3);
}

TEST_F(RunTest, MemoryThatLibTorchDoesNotGetIsAnErrorOfOurs) {
  const auto fail_with = [](const char* what) {
    return [what](int64_t step) {
      if (step >= 2) throw std::runtime_error(what);
    };
  };
  plan_.before_step = fail_with("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes");
  EXPECT_ERROR(go(), kOutOfMemory, "training: out of memory: a step needs more memory than there is");
  EXPECT_TRUE(has(checkpoint_name(2)));
  plan_.before_step = fail_with("sizes differ");
  EXPECT_THROW(go(), std::runtime_error);
}

}  // namespace
}  // namespace deberta::train::run_test
