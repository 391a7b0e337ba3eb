// Requests of many threads through one worker: with a stand-in for the model that can be held and can fail, and with a
// real one.
#include "serve/model_worker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "pipeline/answer_json.h"
#include "support/paths.h"
#include "support/tiny_pipeline.h"

namespace deberta::serve::model_worker_test {
namespace {

// Sequences whose tokens say how they behave: -1 throws.
struct Texts {
  std::vector<Encoding> encodings;
  std::vector<std::atomic<int>> taken;

  explicit Texts(const std::vector<std::vector<int32_t>>& ids) : taken(ids.size()) {
    for (const std::vector<int32_t>& text : ids) encodings.emplace_back().ids = text;
  }
};

std::shared_ptr<const SequencePlan> plan_of(const std::shared_ptr<Texts>& texts) {
  auto plan = std::make_shared<SequencePlan>();
  plan->sequences = SequenceSource(texts->encodings);
  plan->take = [texts](size_t sequence, std::span<const float>) { ++texts->taken[sequence]; };
  return plan;
}

class StandIn {
 public:
  ModelWorker::RunPack run() {
    return [this](uint64_t, std::span<const PlannedSequence> pack, ForwardResult&) {
      {
        std::unique_lock lock(mutex_);
        packs_.push_back(pack.size());
        arrived_.notify_all();
        changed_.wait(lock, [this] { return !is_held_; });
      }
      for (const PlannedSequence& planned : pack) {
        if (planned.plan->sequences.encodings()[planned.sequence].ids.front() == -1)
          throw std::runtime_error("not finite");
      }
      for (const PlannedSequence& planned : pack) planned.plan->take(planned.sequence, {});
    };
  }
  void hold() {
    const std::lock_guard lock(mutex_);
    is_held_ = true;
  }
  void let_go() {
    const std::lock_guard lock(mutex_);
    is_held_ = false;
    changed_.notify_all();
  }
  void wait_for_packs(size_t count) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return packs_.size() >= count; });
  }
  std::vector<size_t> packs() {
    const std::lock_guard lock(mutex_);
    return packs_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_, arrived_;
  bool is_held_ = false;
  std::vector<size_t> packs_;
};

// A request and its outcome.
struct Asked {
  RequestId id = 0;
  bool is_queued = false;
  std::shared_ptr<std::promise<Outcome>> promise = std::make_shared<std::promise<Outcome>>();
  std::future<Outcome> future = promise->get_future();

  bool has_ended() const { return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready; }
};

Asked ask(ModelWorker& worker, const std::shared_ptr<Texts>& texts, const RequestInfo& info = {.client = "a"}) {
  Asked asked;
  asked.id = worker.admit(info, 1).value();
  asked.is_queued = worker.submit(asked.id, plan_of(texts), 0,
                                  [promise = asked.promise](const Outcome& outcome) { promise->set_value(outcome); });
  return asked;
}

std::shared_ptr<Texts> texts_of(const std::vector<std::vector<int32_t>>& ids) {
  return std::make_shared<Texts>(ids);
}

void expect_at_rest(const ModelWorker& worker) {
  const QueueGauges g = worker.gauges();
  EXPECT_EQ(g.requests + g.tokens + g.sequences + g.running, 0u);
}

TEST(ModelWorker, EverySequenceRunsOnceAndTheRequestIsToldOnce) {
  StandIn model;
  ModelWorker worker({}, model.run());
  const auto texts = texts_of({{1, 2}, {3}, {4, 5, 6}});
  Asked asked = ask(worker, texts);
  const Outcome outcome = asked.future.get();
  EXPECT_EQ(outcome.kind, Outcome::Kind::kComputed);
  for (const std::atomic<int>& taken : texts->taken) EXPECT_EQ(taken, 1);
  Asked none = ask(worker, texts_of({}));
  EXPECT_EQ(none.future.get().kind, Outcome::Kind::kComputed);
  expect_at_rest(worker);
}

TEST(ModelWorker, RequestsThatWaitRunTogether) {
  StandIn model;
  ModelWorker worker({}, model.run());
  model.hold();
  Asked first = ask(worker, texts_of({{1}}));
  model.wait_for_packs(1);
  std::vector<Asked> waiting;
  for (int i = 0; i < 20; ++i) waiting.push_back(ask(worker, texts_of({{1}, {2}})));
  model.let_go();
  for (Asked& asked : waiting) EXPECT_EQ(asked.future.get().kind, Outcome::Kind::kComputed);
  EXPECT_EQ(model.packs(), (std::vector<size_t>{1, 40}));
  expect_at_rest(worker);
}

TEST(ModelWorker, OnlyTheRequestAtFaultFails) {
  StandIn model;
  ModelWorker worker({}, model.run());
  model.hold();
  Asked first = ask(worker, texts_of({{1}}));
  model.wait_for_packs(1);
  Asked good = ask(worker, texts_of({{1}, {2}})), bad = ask(worker, texts_of({{1}, {-1}, {2}}));
  Asked other = ask(worker, texts_of({{3}}));
  model.let_go();
  EXPECT_EQ(good.future.get().kind, Outcome::Kind::kComputed);
  EXPECT_EQ(other.future.get().kind, Outcome::Kind::kComputed);
  const Outcome outcome = bad.future.get();
  EXPECT_EQ(outcome.kind, Outcome::Kind::kFailed);
  EXPECT_THROW(std::rethrow_exception(outcome.error), std::runtime_error);
  Asked alone = ask(worker, texts_of({{-1}}));
  EXPECT_EQ(alone.future.get().kind, Outcome::Kind::kFailed);
  EXPECT_EQ(ask(worker, texts_of({{1}})).future.get().kind, Outcome::Kind::kComputed);  // the next one is fine
  expect_at_rest(worker);
}

TEST(ModelWorker, ACancelledRequestIsNotToldWhetherItWaitsOrRuns) {
  StandIn model;
  ModelWorker worker({}, model.run());
  model.hold();
  Asked runs = ask(worker, texts_of({{1}})), last = ask(worker, texts_of({{1}}));
  model.wait_for_packs(1);
  const auto never = texts_of({{1}, {2}});
  Asked waits = ask(worker, never);
  worker.cancel(waits.id);
  worker.cancel(runs.id);
  EXPECT_EQ(worker.gauges().requests, 2u);  // what runs, runs on
  Asked next = ask(worker, texts_of({{1}}));
  model.let_go();
  EXPECT_EQ(next.future.get().kind, Outcome::Kind::kComputed);
  EXPECT_FALSE(runs.has_ended());
  EXPECT_FALSE(waits.has_ended());
  EXPECT_EQ(never->taken[0] + never->taken[1], 0);
  EXPECT_EQ(never.use_count(), 1);  // the plan is gone
  expect_at_rest(worker);
}

// When the batch already has its short one.
TEST(ModelWorker, ARequestWhoseLongSequenceIsLateEndsAsAWhole) {
  StandIn model;
  QueueLimits limits;
  limits.even_length = 1;  // so that a long sequence takes years
  limits.tokens = size_t{1} << 20;
  ModelWorker worker(limits, model.run());
  model.hold();
  Asked first = ask(worker, texts_of({{1}}));
  model.wait_for_packs(1);
  const int64_t begun = microseconds();
  while (microseconds() == begun) std::this_thread::yield();  // it took some time, so that the worker knows its speed
  model.let_go();
  EXPECT_EQ(first.future.get().kind, Outcome::Kind::kComputed);
  const RequestInfo in_an_hour{
      .client = "a", .priority = Priority::kNormal, .deadline = microseconds() + int64_t{3'600'000'000}};
  const auto texts = texts_of({{1}, std::vector<int32_t>(300000, 1)});
  EXPECT_EQ(ask(worker, texts, in_an_hour).future.get().kind, Outcome::Kind::kLate);
  EXPECT_EQ(texts->taken[0] + texts->taken[1], 0);
  EXPECT_EQ(ask(worker, texts_of({{1}})).future.get().kind, Outcome::Kind::kComputed);
  expect_at_rest(worker);
}

TEST(ModelWorker, ADeadlineEndsARequestThatWaitsRunsOrIsStillRead) {
  StandIn model;
  ModelWorker worker({}, model.run());
  model.hold();
  const auto soon = [] {
    return RequestInfo{.client = "a",
                       .priority = Priority::kNormal,
                       .deadline = microseconds() + 1000000};  // enough to begin, on a busy machine too
  };
  Asked runs = ask(worker, texts_of({{1}}), soon());
  model.wait_for_packs(1);
  Asked waits = ask(worker, texts_of({{1}}), soon());
  const RequestInfo last = soon();
  const RequestId reads = worker.admit(last, 1).value();
  while (microseconds() <= last.deadline) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  worker.expire();
  EXPECT_EQ(runs.future.get().kind, Outcome::Kind::kLate);
  EXPECT_EQ(waits.future.get().kind, Outcome::Kind::kLate);
  EXPECT_FALSE(worker.submit(reads, plan_of(texts_of({{1}})), 0, [](const Outcome&) { FAIL(); }));
  model.let_go();
  Asked next = ask(worker, texts_of({{1}}));
  EXPECT_EQ(next.future.get().kind, Outcome::Kind::kComputed);
  expect_at_rest(worker);
}

TEST(ModelWorker, WhatIsTooLargeForTheQueueIsNotQueued) {
  StandIn model;
  QueueLimits limits;
  limits.tokens = 10;
  ModelWorker worker(limits, model.run());
  Asked asked = ask(worker, texts_of({{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5}}));
  EXPECT_FALSE(asked.is_queued);
  expect_at_rest(worker);
}

TEST(ModelWorker, EndsWhileRequestsWait) {
  StandIn model;
  std::vector<Asked> waiting;
  {
    QueueLimits limits;
    limits.batch_sequences = 1;
    ModelWorker worker(limits, model.run());
    model.hold();
    for (int i = 0; i < 10; ++i) waiting.push_back(ask(worker, texts_of({{1}})));
    model.wait_for_packs(1);
    model.let_go();
  }
  SUCCEED();
}

// Answers of many threads at once, with tasks of two kinds, are those of the program to the last bit.
TEST(ModelWorker, AnswersOfARealModelKeepTheirBits) {
  const test::TemporaryFolder folder;
  const Pipeline pipeline = test::tiny_pipeline(folder, Head::kSequence, {"a", "b", "c"}, 3);
  ModelWorker worker({}, [&](uint64_t, std::span<const PlannedSequence> pack, ForwardResult& result) {
    run_pack(pipeline.model, pack, result);
  });
  std::atomic<int> wrong = 0;
  const auto ask_many = [&](int thread) {
    for (int i = 0; i < 40; ++i) {
      const std::string text = "text " + std::to_string(thread * i) + std::string(static_cast<size_t>(i), 'x');
      const TextInput input{text};
      std::promise<void> ended;
      const auto run = [&](const SequencePlan& plan, uint64_t kind) {
        const RequestId id = worker.admit({.client = std::to_string(thread)}, 1).value();
        worker.submit(id, std::make_shared<SequencePlan>(plan), kind, [&](const Outcome&) { ended.set_value(); });
        ended.get_future().wait();
      };
      if (i % 2 == 0) {
        const auto planned = plan_classify(pipeline, {&input, 1}, {});
        run(planned.plan, 0);
        wrong += planned.finish()[0].scores != classify(pipeline, {&input, 1})[0].scores;
      } else {
        const auto planned = plan_embed(pipeline, {&input, 1}, {});
        run(planned.plan, 1);
        wrong += planned.finish()[0].vectors != embed(pipeline, {&input, 1})[0].vectors;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) threads.emplace_back(ask_many, thread);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  expect_at_rest(worker);
}

TEST(ModelWorker, SequencesThatAreMadeWhenTheyRunHaveTheBitsOfTheProgram) {
  const test::TemporaryFolder folder;
  const Pipeline pipeline = test::tiny_pipeline(folder, Head::kMaskedLm, {}, 0);
  QueueLimits limits;
  limits.batch_work = 40;
  ModelWorker worker(limits, [&](uint64_t, std::span<const PlannedSequence> pack, ForwardResult& result) {
    run_pack(pipeline.model, pack, result);
  });
  const std::vector<TextInput> texts = {{"a house of cards"}, {"so"}};
  const Planned<TextScoreAnswer> planned = plan_score(pipeline, texts, {});
  std::promise<void> ended;
  const RequestId id = worker.admit({.client = "a"}, 1).value();
  ASSERT_TRUE(worker.submit(id, std::make_shared<SequencePlan>(planned.plan), kind_of(planned.plan),
                            [&](const Outcome&) { ended.set_value(); }));
  ended.get_future().wait();
  const std::vector<TextScoreAnswer> answers = planned.finish(), expected = score_text(pipeline, texts);
  for (size_t i = 0; i < texts.size(); ++i) {
    ASSERT_EQ(answers[i].pieces.size(), expected[i].pieces.size());
    for (size_t j = 0; j < answers[i].pieces.size(); ++j)
      EXPECT_EQ(answers[i].pieces[j].log_probability, expected[i].pieces[j].log_probability) << i << ": " << j;
  }
  expect_at_rest(worker);
}

TEST(ModelWorker, SaysOfALoneRequestThatNothingWaitsAfterIt) {
  StandIn model;
  ModelWorker worker(QueueLimits(), model.run());
  model.hold();
  Asked first = ask(worker, texts_of({{1}}));
  model.wait_for_packs(1);
  Asked second = ask(worker, texts_of({{1}}));
  model.let_go();
  EXPECT_FALSE(first.future.get().leaves_idle) << "the second request waits";
  EXPECT_TRUE(second.future.get().leaves_idle);
  model.hold();
  Asked held = ask(worker, texts_of({{1}}));
  model.wait_for_packs(3);
  Asked one = ask(worker, texts_of({{1}})), other = ask(worker, texts_of({{1}}));
  model.let_go();
  held.future.get();
  EXPECT_FALSE(one.future.get().leaves_idle) << "two answers are to be made at a time";
  EXPECT_FALSE(other.future.get().leaves_idle);
}

}  // namespace
}  // namespace deberta::serve::model_worker_test
