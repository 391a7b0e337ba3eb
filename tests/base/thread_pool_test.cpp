// The pool: every task once, whatever the number of threads; exceptions come back; it can be used again.
#include "base/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "deberta/error.h"
#include "support/expect_error.h"

namespace deberta::thread_pool_test {
namespace {

class ThreadPools : public testing::TestWithParam<size_t> {};

TEST_P(ThreadPools, RunEachTaskOnce) {
  ThreadPool pool(GetParam());
  EXPECT_EQ(pool.threads(), GetParam());
  EXPECT_EQ(pool.parallel().workers, GetParam());
  for (const size_t tasks : {0u, 1u, 2u, 7u, 1000u}) {
    std::vector<std::atomic<int>> runs(tasks);
    std::atomic<bool> is_worker_known = true;
    parallel_for(pool.parallel(), tasks, [&](size_t task, size_t worker) {
      ++runs[task];
      if (worker >= GetParam()) is_worker_known = false;
    });
    for (const auto& count : runs) EXPECT_EQ(count, 1);
    EXPECT_TRUE(is_worker_known);
  }
}

TEST_P(ThreadPools, GiveNoWorkerTwoTasksAtOnce) {
  ThreadPool pool(GetParam());
  std::vector<std::atomic<int>> inside(GetParam());
  std::atomic<bool> is_shared = false;
  parallel_for(pool.parallel(), 200, [&](size_t, size_t worker) {
    if (++inside[worker] != 1) is_shared = true;
    std::this_thread::yield();
    --inside[worker];
  });
  EXPECT_FALSE(is_shared);
}

TEST_P(ThreadPools, CarryTheFirstExceptionAndLeaveOutTheRest) {
  ThreadPool pool(GetParam());
  std::atomic<size_t> ran = 0;
  const auto run = [&] {
    parallel_for(pool.parallel(), 100000, [&](size_t task, size_t) {
      ++ran;
      if (task == 3) throw Error(ErrorCode::kInput, "task", "three");
      std::this_thread::yield();  // lets the throwing thread run on a busy machine too
    });
  };
  EXPECT_ERROR(run(), kInput, "task: three");
  EXPECT_GE(ran, 4u);
  EXPECT_LT(ran, 100000u);
}

TEST_P(ThreadPools, WorkOnAfterAnException) {
  ThreadPool pool(GetParam());
  for (int round = 0; round < 20; ++round) {
    EXPECT_THROW(parallel_for(pool.parallel(), 8, [](size_t, size_t) { throw std::runtime_error("each"); }),
                 std::runtime_error);
    std::atomic<size_t> sum = 0;
    parallel_for(pool.parallel(), 8, [&](size_t task, size_t) { sum += task; });
    EXPECT_EQ(sum, 28u);
  }
}

TEST_P(ThreadPools, RunManySmallRegions) {
  ThreadPool pool(GetParam());
  std::vector<size_t> values(16, 0);  // plain: the end of a region makes its writes visible
  for (int region = 0; region < 3000; ++region) {
    parallel_for(pool.parallel(), values.size(), [&](size_t task, size_t) { ++values[task]; });
  }
  for (const size_t value : values) EXPECT_EQ(value, 3000u);
}

TEST_P(ThreadPools, WakeFromSleep) {
  ThreadPool pool(GetParam());
  for (int region = 0; region < 3; ++region) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    std::atomic<size_t> ran = 0;
    parallel_for(pool.parallel(), 50, [&](size_t, size_t) { ++ran; });
    EXPECT_EQ(ran, 50u);
  }
}

TEST_P(ThreadPools, LetCallersOfSeveralThreadsTakeTurns) {
  ThreadPool pool(GetParam());
  std::vector<size_t> sums(4, 0);
  std::vector<std::thread> callers;
  for (size_t caller = 0; caller < sums.size(); ++caller) {
    callers.emplace_back([&, caller] {
      for (int region = 0; region < 100; ++region) {
        std::atomic<size_t> sum = 0;
        parallel_for(pool.parallel(), 10, [&](size_t task, size_t) { sum += task; });
        sums[caller] += sum;
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const size_t sum : sums) EXPECT_EQ(sum, 4500u);
}

INSTANTIATE_TEST_SUITE_P(OfSize, ThreadPools, testing::Values(1, 2, 3, 8));

TEST(ThreadPool, ReallyUsesItsThreads) {
  ThreadPool pool(2);
  std::atomic<int> inside = 0;
  std::atomic<bool> has_met = false;
  parallel_for(pool.parallel(), 2, [&](size_t, size_t) {
    ++inside;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(120);
    while (inside < 2 && std::chrono::steady_clock::now() < deadline) std::this_thread::yield();
    if (inside == 2) has_met = true;
  });
  EXPECT_TRUE(has_met);
}

TEST(Serial, RunsInOrderOnTheCaller) {
  std::vector<size_t> order;
  parallel_for(serial(), 5, [&](size_t task, size_t worker) {
    EXPECT_EQ(worker, 0u);
    order.push_back(task);
  });
  EXPECT_EQ(order, (std::vector<size_t>{0, 1, 2, 3, 4}));
}

TEST(UsableProcessors, AreAtLeastOneAndNoMoreThanThereAre) {
  EXPECT_GE(usable_processors(), 1u);
  EXPECT_LE(usable_processors(), std::max(1u, std::thread::hardware_concurrency()));
}

}  // namespace
}  // namespace deberta::thread_pool_test
