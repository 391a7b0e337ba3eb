// A learner whose loss is a known function of the rate.
#include "train/run/rate_search.h"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>

namespace deberta::train::rate_search_test {
namespace {

constexpr double kHighest = 1e-3;

class FakeLearner : public Learner {
 public:
  explicit FakeLearner(std::function<double(double rate)> loss, int64_t steps = 1000)
      : loss_(std::move(loss)), steps_(steps) {}

  int64_t total_steps() const override { return steps_; }
  std::map<std::string, std::string> hashes() override { return {}; }
  void begin(int64_t) override {}
  StepReport step(const StepRequest& request, Sums& sums) override {
    sums["loss"] = loss_(request.factor * kHighest);
    return {.is_finite = std::isfinite(sums["loss"])};
  }
  Metrics metrics(const Sums& sums) const override { return {{"loss", sums.at("loss")}}; }
  Metrics evaluate(EvaluationPart, const RunHooks&) override { return {}; }
  std::vector<TensorView> optimizer_tensors() override { return {}; }
  void add_models(ManifestWriter&) override {}
  uint64_t models_bytes() override { return 0; }
  void load(const std::string&) override {}
  void write_models(const std::string&) override {}
  void exchange_averages() override {}

 private:
  std::function<double(double rate)> loss_;
  int64_t steps_;
};

RateSearch search(FakeLearner learner) {
  return *search_rates(learner, {.learning_rate = kHighest}, {});
}

TEST(RateSearch, TriesAHundredRatesInEqualRatios) {
  const RateSearch result = search(FakeLearner([](double) { return 1.0; }));
  ASSERT_EQ(result.tried.size(), 100U);
  EXPECT_NEAR(result.tried.front().rate, 1e-8, 1e-20);
  EXPECT_NEAR(result.tried.back().rate, 1, 1e-12);
  EXPECT_NEAR(result.tried[51].rate / result.tried[50].rate, std::pow(1e8, 1 / 99.0), 1e-9);
  EXPECT_FALSE(result.steepest) << "a loss that stays the same falls nowhere";
}

TEST(RateSearch, NoMoreThanTheRunHas) {
  EXPECT_EQ(search(FakeLearner([](double) { return 1.0; }, 7)).tried.size(), 7U);
}

// A valley whose fall is steepest at 1e-4, and whose floor is near 1e-2.
TEST(RateSearch, FindsWhereTheLossFallsMostAndWhereItIsLowest) {
  const auto loss = [](double rate) {
    const double x = std::log10(rate);
    return 2 - std::tanh(2 * (x + 4)) + (x > -2 ? (x + 2) * (x + 2) : 0);
  };
  const RateSearch result = search(FakeLearner(loss));
  ASSERT_TRUE(result.steepest && result.lowest);
  EXPECT_GT(*result.steepest, 5e-5);
  EXPECT_LT(*result.steepest, 4e-4) << "the average runs a little behind";
  EXPECT_GT(*result.lowest, 3e-3);
  EXPECT_LT(*result.lowest, 1e-1);
}

TEST(RateSearch, AveragesWithoutTheWeightOfWhatCameBeforeTheFirst) {
  int n = 0;
  const RateSearch result = search(FakeLearner([&](double) { return n++ == 0 ? 1.0 : 2.0; }));
  EXPECT_DOUBLE_EQ(result.tried[0].smoothed, 1);
  EXPECT_NEAR(result.tried[1].smoothed, (0.9 * 1 + 2) / 1.9, 1e-12);
}

TEST(RateSearch, EndsWhereTheLossIsFourTimesItsLowestOrNotFinite) {
  const RateSearch far = search(FakeLearner([](double rate) { return rate > 1e-4 ? 100.0 : 1.0; }));
  EXPECT_LT(far.tried.size(), 55U);
  EXPECT_GT(far.tried.back().smoothed, 4);
  const RateSearch gone = search(FakeLearner([](double rate) { return rate > 1e-4 ? NAN : 1.0; }));
  EXPECT_LT(gone.tried.back().rate, 1.0001e-4);
}

TEST(RateSearch, IsNothingOnceStopped) {
  FakeLearner learner([](double) { return 1.0; });
  EXPECT_FALSE(search_rates(learner, {.learning_rate = kHighest}, {.stop = [] { return StopRequest::kStop; }}));
}

}  // namespace
}  // namespace deberta::train::rate_search_test
