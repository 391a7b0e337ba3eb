// Percentiles, packs and the operation counts behind `bench`.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <vector>

#include "measure/machine.h"
#include "measure/runs.h"

namespace deberta::measure::measure_test {
namespace {

TEST(Bench, PercentilesAreByNearestRank) {
  const Durations times({5, 1, 4, 2, 3});
  EXPECT_EQ(times.least(), 1);
  EXPECT_EQ(times.percentile(50), 3);
  EXPECT_EQ(times.percentile(90), 5);
  EXPECT_EQ(times.percentile(20), 1);
  EXPECT_EQ(Durations({7}).percentile(99), 7);
}

TEST(Bench, MeasuresAtLeastTheRunsAskedFor) {
  int calls = 0;
  double time = 0;
  const auto clock = [&] { return time; };
  const std::function<void()> work = [&] {
    ++calls;
    time += 0.25;
  };
  EXPECT_EQ(measure(0.25, 5, {&work, 1}, {}, clock).front().count(), 5u);
  EXPECT_EQ(calls, 6) << "one takes the whole budget and does not count";
  calls = 0;
  EXPECT_EQ(measure(2, 5, {&work, 1}, {}, clock).front().count(), 8u) << "the budget holds more than were asked for";
  EXPECT_EQ(calls, 10) << "two do not count";
}

TEST(Bench, TakesTurnsByTheTimeThatEachHad) {
  double time = 0;
  const std::vector<std::function<void()>> works = {[&] { time += 1; }, [&] { time += 8; }};
  std::vector<size_t> order;
  const std::vector<Durations> times = measure(
      16, 3, works, [&](size_t i, double) { order.push_back(i); }, [&] { return time; });
  EXPECT_EQ(times[0].count(), 17u) << "until both are done";
  EXPECT_EQ(times[1].count(), 3u);
  EXPECT_EQ(times[1].least(), 8);
  EXPECT_EQ(std::vector<size_t>(order.begin(), order.begin() + 11),
            (std::vector<size_t>{0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1}))
      << "the longer one waits for its turn, not for the other's end";
}

TEST(Bench, TheClockGoesOn) {
  const double begin = steady_seconds();
  const std::function<void()> nothing = [] {};
  EXPECT_GE(measure(0, 5, {&nothing, 1}).front().least(), 0);
  EXPECT_GE(steady_seconds(), begin);
}

TEST(Bench, PacksHoldNoMoreThanTheBudgetAndEverySequenceOnce) {
  const std::vector<Batch> batches = packed_batches({9, 3, 30, 4, 5}, 12, 1000);
  ASSERT_EQ(batches.size(), 3u);
  EXPECT_EQ(batches[0].starts, (std::vector<int32_t>{0, 3, 7, 12}));
  EXPECT_EQ(batches[1].starts, (std::vector<int32_t>{0, 9}));
  EXPECT_EQ(batches[2].starts, (std::vector<int32_t>{0, 30})) << "longer than the budget: alone";
}

TEST(Bench, RandomIdsAreThoseOfTheVocabulary) {
  for (const int64_t vocabulary : {int64_t{1}, int64_t{5}, int64_t{128100}}) {
    const Batch batch = random_batch(std::vector<int32_t>{40, 2}, vocabulary);
    EXPECT_EQ(batch.tokens(), 42u);
    for (const int32_t id : batch.ids_T) EXPECT_TRUE(id >= 0 && id < vocabulary && id < 1000) << id;
  }
}

TEST(Bench, TheWorkIsThatOfTheEncoder) {
  ModelConfig config;
  const int32_t length = 9;
  const PassShape shape{.lengths = {&length, 1}, .head = Head::kSequence, .labels = 3};
  const Operations pass = forward_operations(config, shape);
  const Work work = work_of(config, shape);
  EXPECT_EQ(work.linear + work.attention + pass.head, pass.all());
  EXPECT_EQ(work.weights, layer_weights(config));
}

TEST(Bench, TheLimitTakesEachPartAtItsOwnPeak) {
  const Machine machine{.threads = 1, .peak_fp32 = 1, .peak_bf16 = 2, .peak_int8 = 4, .read_bytes = 1};
  EXPECT_EQ(limit_seconds(machine, Precision::kFp32, {8, 4, 3}), 12);
  EXPECT_EQ(limit_seconds(machine, Precision::kBf16, {8, 4, 3}), 6);
  EXPECT_EQ(limit_seconds(machine, Precision::kInt8, {8, 4, 3}), 4);
  EXPECT_EQ(limit_seconds({}, Precision::kFp32, {8, 4, 3}), 0);
}

TEST(Bench, TheLimitIsNoLessThanReadingTheWeights) {
  const Machine machine{.threads = 1, .peak_fp32 = 1, .peak_bf16 = 2, .peak_int8 = 4, .read_bytes = 2};
  EXPECT_EQ(limit_seconds(machine, Precision::kFp32, {8, 4, 10}), 20);
  EXPECT_EQ(limit_seconds(machine, Precision::kBf16, {8, 4, 10}), 10);
  EXPECT_EQ(limit_seconds(machine, Precision::kInt8, {8, 4, 10}), 5);
}

TEST(Bench, ProductsAreNamedByTheirRole) {
  EXPECT_EQ(operation_name({.operation = Operation::kGemm, .role = ProductRole::kKeyValue}), "gemm key, value");
  EXPECT_EQ(operation_name({.operation = Operation::kGemm}), "gemm");
  EXPECT_EQ(operation_name({.operation = Operation::kAttention}), "attention");
}

}  // namespace
}  // namespace deberta::measure::measure_test
