// The queue on a virtual clock, with a stand-in for the model that takes time in proportion to the work.
#include "serve/batch_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace deberta::serve::batch_queue_test {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  size_t below(size_t n) { return engine_() % n; }

 private:
  std::mt19937_64 engine_;
};

QueueLimits small_limits() {
  QueueLimits limits;
  limits.requests = 1000;
  limits.tokens = 1000000;
  limits.batch_work = 100;
  limits.batch_sequences = 16;
  limits.even_length = std::numeric_limits<double>::infinity();  // work is tokens
  return limits;
}

RequestInfo from(const std::string& client, Priority priority = Priority::kNormal, int64_t deadline = INT64_MAX) {
  return {.client = client, .priority = priority, .deadline = deadline};
}

RequestId put(BatchQueue& queue, const RequestInfo& info, const std::vector<size_t>& tokens, uint64_t kind = 0) {
  const std::optional<RequestId> id = queue.admit(info, 1);
  EXPECT_TRUE(id && queue.add(*id, tokens, kind));
  return id.value_or(0);
}

// Takes a batch and ends it, at one unit of work per microsecond; its requests, in order.
std::vector<RequestId> run_one(BatchQueue& queue, int64_t now = 0) {
  std::vector<RequestId> late, ran;
  const BatchQueue::Batch batch = queue.next_batch(now, late);
  for (const QueuedSequence& sequence : batch.sequences) ran.push_back(sequence.request);
  queue.finish(batch, static_cast<int64_t>(batch.work));
  return ran;
}

void expect_at_rest(const BatchQueue& queue) {
  const QueueGauges& g = queue.gauges();
  EXPECT_EQ(g.requests, 0u);
  EXPECT_EQ(g.tokens, 0u);
  EXPECT_EQ(g.sequences, 0u);
  EXPECT_EQ(g.running, 0u);
  EXPECT_EQ(queue.time_to_drain(), 0);
  EXPECT_FALSE(queue.next_deadline());
}

TEST(BatchQueue, AttentionCountsInTheWork) {
  QueueLimits limits;
  EXPECT_DOUBLE_EQ(work_of(2304, limits), 2 * 2304);
  EXPECT_DOUBLE_EQ(work_of(0, limits), 0);
}

TEST(BatchQueue, ARequestIsSplitAndALongSequenceRunsAlone) {
  BatchQueue queue(small_limits());
  const RequestId large = put(queue, from("a"), std::vector<size_t>(25, 10));
  EXPECT_EQ(run_one(queue).size(), 10u);
  EXPECT_EQ(run_one(queue).size(), 10u);
  EXPECT_EQ(run_one(queue), std::vector<RequestId>(5, large));
  const RequestId longest = put(queue, from("a"), {500, 1});
  EXPECT_EQ(run_one(queue), std::vector<RequestId>{longest});
  EXPECT_EQ(run_one(queue), std::vector<RequestId>{longest});
  put(queue, from("a"), std::vector<size_t>(40, 1));
  EXPECT_EQ(run_one(queue).size(), 16u);  // the most sequences
  while (!run_one(queue).empty()) continue;
  expect_at_rest(queue);
}

TEST(BatchQueue, AClientLeavesHalfOfTheTokensToOthers) {
  QueueLimits limits = small_limits();
  limits.tokens = 100;
  BatchQueue queue(limits);
  put(queue, from("a"), {30});
  put(queue, from("a"), {20});
  const auto third = queue.admit(from("a"), 0);
  const size_t single[] = {1};
  EXPECT_FALSE(queue.add(*third, single, 0));
  put(queue, from("b"), {50});
  while (!run_one(queue).empty()) continue;
  put(queue, from("a"), {60, 40});  // by itself
  EXPECT_FALSE(queue.admit(from("b"), 1));
  while (!run_one(queue).empty()) continue;
  expect_at_rest(queue);
}

TEST(BatchQueue, ThereIsRoomForSoManyRequestsAndTokens) {
  QueueLimits limits = small_limits();
  limits.requests = 2;
  limits.tokens = 100;
  BatchQueue queue(limits);
  const auto first = queue.admit(from("a"), 60);
  EXPECT_FALSE(queue.admit(from("a"), 41));  // tokens
  const auto second = queue.admit(from("a"), 40);
  EXPECT_FALSE(queue.admit(from("a"), 0));  // requests
  const size_t many[] = {70}, few[] = {30, 10};
  EXPECT_FALSE(queue.add(*first, many, 0));  // more than the estimate, and no room
  EXPECT_EQ(queue.gauges().requests, 1u);
  EXPECT_TRUE(queue.add(*second, few, 0));
  EXPECT_EQ(queue.gauges().tokens, 40u);
  EXPECT_EQ(run_one(queue).size(), 2u);
  expect_at_rest(queue);
}

TEST(BatchQueue, ARequestWithoutSequencesLeavesNothing) {
  BatchQueue queue(small_limits());
  put(queue, from("a", Priority::kNormal, 10), {});
  expect_at_rest(queue);
}

TEST(BatchQueue, OneOfThousandsDoesNotWaitForThem) {
  BatchQueue queue(small_limits());
  put(queue, from("many"), std::vector<size_t>(5000, 10));
  run_one(queue);
  const RequestId single = put(queue, from("single"), {10});
  const std::vector<RequestId> next = run_one(queue);
  EXPECT_NE(std::find(next.begin(), next.end(), single), next.end());
}

// Two clients, one with a hundred times the load: the other waits for the batch that runs and is in the next.
TEST(BatchQueue, AHundredTimesTheLoadOfAnotherCostsThreeBatchesAtMost) {
  BatchQueue queue(small_limits());
  Random random(7);
  std::map<RequestId, int> asked;  // batch in which it came
  std::vector<int> waited;
  for (int batch = 0; batch < 2000; ++batch) {
    for (int i = 0; i < 12; ++i) {
      if (queue.gauges().requests < 900) put(queue, from("large"), {1 + random.below(20)});
    }
    if (batch % 8 == 0) asked[put(queue, from("small"), {1 + random.below(20)})] = batch;
    for (const RequestId id : run_one(queue)) {
      if (asked.contains(id)) waited.push_back(batch - asked[id] + 1);
    }
  }
  ASSERT_EQ(waited.size(), asked.size());
  std::sort(waited.begin(), waited.end());
  EXPECT_LE(waited[waited.size() * 99 / 100], 3);
}

TEST(BatchQueue, ClientsShareEquallyAndClassesEightFourOne) {
  BatchQueue queue(small_limits());
  std::map<RequestId, std::string> who;
  const auto fill = [&](const std::string& name, Priority priority) {
    who[put(queue, from(name, priority), std::vector<size_t>(13000, 5))] = name;
  };
  fill("high", Priority::kHigh);
  fill("normal", Priority::kNormal);
  fill("low 1", Priority::kLow);
  fill("low 2", Priority::kLow);
  std::map<std::string, double> share;
  for (int batch = 0; batch < 650; ++batch) {
    for (const RequestId id : run_one(queue)) share[who[id]] += 5.0 / 100;
  }
  const double all = share["high"] + share["normal"] + share["low 1"] + share["low 2"];
  EXPECT_NEAR(share["high"] / all, 8.0 / 13, 0.01);
  EXPECT_NEAR(share["normal"] / all, 4.0 / 13, 0.01);
  EXPECT_NEAR(share["low 1"] / all, 0.5 / 13, 0.01);
  EXPECT_NEAR(share["low 2"] / all, 0.5 / 13, 0.01);
}

// What was idle has no claim on the time that passed.
TEST(BatchQueue, AClientThatComesLateGetsItsShareFromThenOn) {
  BatchQueue queue(small_limits());
  const RequestId early = put(queue, from("early"), std::vector<size_t>(2000, 10));
  for (int i = 0; i < 100; ++i) run_one(queue);
  put(queue, from("late"), std::vector<size_t>(2000, 10));
  size_t of_early = 0;
  for (int i = 0; i < 10; ++i) {
    const std::vector<RequestId> ran = run_one(queue);
    of_early += static_cast<size_t>(std::count(ran.begin(), ran.end(), early));
  }
  EXPECT_NEAR(static_cast<double>(of_early), 50, 1);
}

TEST(BatchQueue, OfOneClientTheNearestDeadlineComesFirst) {
  BatchQueue queue(small_limits());
  const RequestId never = put(queue, from("a"), {60});
  const RequestId far = put(queue, from("a", Priority::kNormal, 90000), {60});
  const RequestId near = put(queue, from("a", Priority::kNormal, 50000), {60});
  EXPECT_EQ(run_one(queue), std::vector<RequestId>{near});
  EXPECT_EQ(run_one(queue), std::vector<RequestId>{far});
  EXPECT_EQ(run_one(queue), std::vector<RequestId>{never});
}

TEST(BatchQueue, OneOfAnotherKindIsPassedEightTimes) {
  BatchQueue queue(small_limits());
  const RequestId first = put(queue, from("a"), {50}, 1);
  const RequestId other = put(queue, from("a"), {2}, 2);
  for (int i = 0; i < 12; ++i) put(queue, from("a"), {2}, 1);
  const std::vector<RequestId> batch = run_one(queue);
  EXPECT_EQ(batch.size(), 9u);  // 50, and eight of the small ones
  EXPECT_EQ(batch.front(), first);
  EXPECT_EQ(run_one(queue).front(), other);
}

TEST(BatchQueue, OfAKindTheOrderOfArrivalHolds) {
  BatchQueue queue(small_limits());
  const RequestId first = put(queue, from("a"), {50}), large = put(queue, from("a"), {60});
  const RequestId small = put(queue, from("a"), {2}), elsewhere = put(queue, from("b"), {2});
  EXPECT_EQ(run_one(queue), (std::vector<RequestId>{first, elsewhere}));
  EXPECT_EQ(run_one(queue), (std::vector<RequestId>{large, small}));
}

TEST(BatchQueue, ABatchIsOfOneKind) {
  BatchQueue queue(small_limits());
  const RequestId logits = put(queue, from("a"), {10, 10}, 1), states = put(queue, from("a"), {10}, 2);
  const RequestId more = put(queue, from("b"), {10}, 1);
  std::vector<RequestId> batch = run_one(queue);
  std::sort(batch.begin(), batch.end());
  EXPECT_EQ(batch, (std::vector<RequestId>{logits, logits, more}));
  EXPECT_EQ(run_one(queue), std::vector<RequestId>{states});
}

TEST(BatchQueue, WhatCannotMeetItsDeadlineIsDroppedBeforeItRuns) {
  BatchQueue queue(small_limits());
  put(queue, from("a"), {100});
  run_one(queue);  // one unit of work per microsecond
  const RequestId hopeless = put(queue, from("a", Priority::kNormal, 1040), {50, 30});
  const RequestId possible = put(queue, from("a", Priority::kNormal, 1060), {50});
  std::vector<RequestId> late;
  const BatchQueue::Batch batch = queue.next_batch(1000, late);
  EXPECT_EQ(late, std::vector<RequestId>{hopeless});
  ASSERT_EQ(batch.sequences.size(), 1u);
  EXPECT_EQ(batch.sequences.front().request, possible);
  EXPECT_EQ(queue.finish(batch, 50), std::vector<bool>{true});
  expect_at_rest(queue);
}

// Its short sequence would still be in time.
TEST(BatchQueue, WhatTheBatchHasOfALateRequestLeavesIt) {
  for (const bool is_alone : {false, true}) {
    BatchQueue queue(small_limits());
    put(queue, from("a"), {100});
    run_one(queue);  // one unit of work per microsecond
    const RequestId hopeless = put(queue, from("a", Priority::kNormal, 1040), {10, 20, 50, 30});
    std::vector<RequestId> others;
    if (!is_alone) others.push_back(put(queue, from("a", Priority::kNormal, 1060), {40}));
    std::vector<RequestId> late, taken;
    const BatchQueue::Batch batch = queue.next_batch(1000, late);
    for (const QueuedSequence& sequence : batch.sequences) taken.push_back(sequence.request);
    EXPECT_EQ(late, std::vector<RequestId>{hopeless});
    EXPECT_EQ(taken, others);
    EXPECT_EQ(batch.work, is_alone ? 0 : 40);
    EXPECT_EQ(queue.gauges().running, others.size());
    EXPECT_EQ(queue.finish(batch, 50), std::vector<bool>(others.size(), true));
    expect_at_rest(queue);
  }
}

TEST(BatchQueue, DeadlinesPassWhileTheModelIsBusy) {
  BatchQueue queue(small_limits());
  std::vector<RequestId> late;
  const RequestId runs = put(queue, from("a", Priority::kNormal, 500), {100});
  const BatchQueue::Batch batch = queue.next_batch(0, late);
  const RequestId waits = put(queue, from("b", Priority::kNormal, 400), {10});
  const std::optional<RequestId> reads = queue.admit(from("c", Priority::kNormal, 450), 10);
  EXPECT_EQ(queue.next_deadline(), 400);
  EXPECT_EQ(queue.expire(399), std::vector<RequestId>());
  EXPECT_EQ(queue.expire(450), (std::vector<RequestId>{waits, *reads}));
  EXPECT_EQ(queue.next_deadline(), 500);
  EXPECT_EQ(queue.expire(600), std::vector<RequestId>{runs});
  const size_t tokens[] = {10};
  EXPECT_FALSE(queue.add(*reads, tokens, 0));
  EXPECT_EQ(queue.finish(batch, 700), std::vector<bool>{false});
  expect_at_rest(queue);
}

TEST(BatchQueue, ACancelledRequestLeavesAtOnceWhatRunsIsNotWanted) {
  BatchQueue queue(small_limits());
  std::vector<RequestId> late;
  const RequestId gone = put(queue, from("a"), std::vector<size_t>(30, 10));
  const BatchQueue::Batch batch = queue.next_batch(0, late);
  queue.cancel(gone);
  EXPECT_EQ(queue.gauges().sequences, 0u);
  EXPECT_EQ(queue.gauges().tokens, 100u);  // tokens of those that run
  EXPECT_EQ(queue.finish(batch, 100), std::vector<bool>(10, false));
  queue.cancel(gone);
  queue.cancel(12345);
  expect_at_rest(queue);
}

TEST(BatchQueue, TheTimeToDrainFollowsTheSpeed) {
  BatchQueue queue(small_limits());
  put(queue, from("a"), {100});
  EXPECT_EQ(queue.time_to_drain(), 0);  // not known yet
  std::vector<RequestId> late;
  queue.finish(queue.next_batch(0, late), 200);
  put(queue, from("a"), {100, 50});
  EXPECT_EQ(queue.time_to_drain(), 300);
}

// A million random steps: gauges stay within the limits, everything that comes goes once, and nothing is left.
TEST(BatchQueue, NothingLeaksInAMillionRandomSteps) {
  QueueLimits limits = small_limits();
  limits.requests = 50;
  limits.tokens = 3000;
  BatchQueue queue(limits);
  Random random(1);
  std::map<RequestId, size_t> open;    // sequences that have not run
  std::map<RequestId, bool> admitted;  // not added yet
  std::optional<BatchQueue::Batch> running;
  std::vector<RequestId> late;
  int64_t now = 0;
  const auto any_of = [&](const auto& from) {
    return std::next(from.begin(), static_cast<std::ptrdiff_t>(random.below(from.size())))->first;
  };
  const auto finish = [&] {
    const std::vector<bool> are_wanted = queue.finish(*running, 1 + static_cast<int64_t>(random.below(200)));
    for (size_t i = 0; i < are_wanted.size(); ++i) {
      const RequestId id = running->sequences[i].request;
      ASSERT_EQ(are_wanted[i], open.contains(id));
      if (are_wanted[i] && --open[id] == 0) open.erase(id);
    }
    running.reset();
  };
  for (int step = 0; step < 1000000; ++step) {
    now += static_cast<int64_t>(random.below(20));
    switch (random.below(6)) {
      case 0: {
        const int64_t deadline = random.below(3) == 0 ? INT64_MAX : now + static_cast<int64_t>(random.below(2000));
        const RequestInfo info = from(std::string(1, static_cast<char>('a' + random.below(9))),
                                      static_cast<Priority>(random.below(3)), deadline);
        if (const auto id = queue.admit(info, random.below(200))) admitted[*id] = true;
        break;
      }
      case 1:
        if (!admitted.empty()) {
          const RequestId id = any_of(admitted);
          std::vector<size_t> tokens(random.below(6));
          for (size_t& count : tokens) count = 1 + random.below(150);
          admitted.erase(id);
          if (queue.add(id, tokens, random.below(2)) && !tokens.empty()) open[id] = tokens.size();
        }
        break;
      case 2:
        if (!open.empty() && random.below(4) == 0) {
          const RequestId id = any_of(open);
          queue.cancel(id);
          open.erase(id);
        } else if (!admitted.empty() && random.below(4) == 0) {
          const RequestId id = any_of(admitted);
          queue.cancel(id);
          admitted.erase(id);
        }
        break;
      case 3:
        for (const RequestId id : queue.expire(now)) ASSERT_EQ(open.erase(id) + admitted.erase(id), 1u);
        break;
      default:
        if (running) finish();
        late.clear();
        running = queue.next_batch(now, late);
        for (const RequestId id : late) {
          ASSERT_EQ(open.erase(id), 1u);
          ASSERT_TRUE(std::ranges::none_of(running->sequences, [&](const auto& taken) { return taken.request == id; }));
        }
        if (running->sequences.empty()) running.reset();
    }
    ASSERT_LE(queue.gauges().requests, limits.requests);
    ASSERT_LE(queue.gauges().tokens, limits.tokens);
  }
  for (const auto& [id, is_open] : admitted) queue.cancel(id);
  for (int i = 0; i < 1000 && (running || queue.gauges().sequences > 0); ++i) {
    if (running) finish();
    late.clear();
    running = queue.next_batch(now, late);
    for (const RequestId id : late) open.erase(id);
    if (running->sequences.empty()) running.reset();
  }
  EXPECT_TRUE(open.empty());
  const QueueGauges& g = queue.gauges();
  EXPECT_EQ(g.requests + g.tokens + g.sequences + g.running, 0u);
}

// Sequences of the next batch, which takes a microsecond for each unit of work.
size_t run_for(BatchQueue& queue, int64_t& now) {
  std::vector<RequestId> late;
  const BatchQueue::Batch batch = queue.next_batch(now, late);
  now += static_cast<int64_t>(batch.work);
  queue.finish(batch, static_cast<int64_t>(batch.work));
  return batch.sequences.size();
}

TEST(BatchQueue, WhileSeveralClientsAskABatchTakesFiftyMilliseconds) {
  QueueLimits limits = small_limits();
  limits.batch_work = 1000000;
  limits.batch_sequences = 1000;
  limits.tokens = 100000000;
  BatchQueue queue(limits);
  int64_t now = 1000000;
  const std::vector<size_t> many(120, 20000);  // 20 ms each
  put(queue, from("large"), many);
  EXPECT_EQ(run_for(queue, now), 1u);   // the speed is not known yet
  EXPECT_EQ(run_for(queue, now), 50u);  // one client's batch is as large as a batch may be
  put(queue, from("short"), {10});
  EXPECT_EQ(run_for(queue, now), 3u);  // the short one and two of 20 ms
  EXPECT_EQ(run_for(queue, now), 2u);  // for a while, since the other may come again
  now += 6000000;
  EXPECT_EQ(run_for(queue, now), 50u);
}

TEST(BatchQueue, TheFirstBatchIsSmall) {
  QueueLimits limits = small_limits();
  limits.batch_work = 1000000;
  BatchQueue queue(limits);
  put(queue, from("a"), std::vector<size_t>(16, 100));
  EXPECT_EQ(run_one(queue).size(), 5u);
  EXPECT_EQ(run_one(queue).size(), 11u);
}

TEST(BatchQueue, ASequenceThatTakesLongerThanItsShareRunsAlone) {
  QueueLimits limits = small_limits();
  limits.batch_work = 1000000;
  BatchQueue queue(limits);
  int64_t now = 1000000;
  put(queue, from("large"), {200000});
  EXPECT_EQ(run_for(queue, now), 1u);
  put(queue, from("large"), {200000, 200000});
  put(queue, from("short"), {10});
  EXPECT_EQ(run_for(queue, now) + run_for(queue, now) + run_for(queue, now), 3u);
}

}  // namespace
}  // namespace deberta::serve::batch_queue_test
