#include "serve/work_pool.h"

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>

#include "deberta/error.h"

namespace deberta::serve::work_pool_test {
namespace {

// What ran, in order; jobs that wait until they are released.
class Record {
 public:
  void add(const std::string& name) {
    const std::lock_guard lock(mutex_);
    names_ += name;
    changed_.notify_all();
  }
  std::string wait_for(size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return names_.size() >= count; });
    return names_;
  }
  bool has_within(size_t count, std::chrono::seconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [&] { return names_.size() >= count; });
  }
  void open() {
    const std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  void wait_until_open() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string names_;
  bool is_open_ = false;
};

TEST(WorkPool, AClientWithOneJobDoesNotWaitForAllOfAnother) {
  Record record;
  {
    WorkPool pool(1);
    pool.post("busy", WorkSize::kSmall, [&] {
      record.add("x");
      record.wait_until_open();
    });
    record.wait_for(1);
    for (int i = 0; i < 3; ++i) pool.post("busy", WorkSize::kSmall, [&] { record.add("a"); });
    pool.post("other", WorkSize::kSmall, [&] { record.add("b"); });
    record.open();
  }
  EXPECT_EQ(record.wait_for(5), "xbaaa");
}

// "a" has had less time than "b": a thread that took large work would take L before s, however the threads come to run.
TEST(WorkPool, SmallWorkDoesNotWaitForLargeWorkToEnd) {
  Record record;
  {
    WorkPool pool(1, 1);
    pool.post("a", WorkSize::kLarge, [&] {
      record.add("x");
      record.wait_until_open();
      record.add("X");
    });
    record.wait_for(1);
    pool.post("b", WorkSize::kSmall, [&] { record.add("b"); });
    record.wait_for(2);
    pool.post("a", WorkSize::kLarge, [&] { record.add("L"); });
    pool.post("b", WorkSize::kSmall, [&] { record.add("s"); });
    EXPECT_EQ(record.wait_for(3), "xbs");
    record.open();
  }
  EXPECT_EQ(record.wait_for(5), "xbsXL");
}

// A thread that is woken wakes the next one, or of jobs that wait for one another only the first would begin; nor is a
// job ever left for which threads sleep.
TEST(WorkPool, WhatIsPostedAtOnceRunsSideBySide) {
  WorkPool pool(3, 1);
  for (int round = 0; round < 200; ++round) {
    SCOPED_TRACE(round);
    const WorkSize size = round % 2 == 0 ? WorkSize::kSmall : WorkSize::kLarge;
    const size_t count = size == WorkSize::kSmall ? 4 : 3;
    const auto record = std::make_shared<Record>();
    for (size_t i = 0; i < count; ++i)
      pool.post(std::to_string(i), size, [record] {
        record->add(".");
        record->wait_until_open();
        record->add("-");
      });
    ASSERT_TRUE(record->has_within(count, std::chrono::seconds(20))) << (record->open(), record->wait_for(2 * count));
    record->open();
    record->wait_for(2 * count);
  }
}

TEST(WorkPool, WhatWasPostedRunsBeforeTheEnd) {
  Record record;
  {
    WorkPool pool(2, 1);
    for (int i = 0; i < 1000; ++i)
      pool.post(std::to_string(i % 7), i % 2 == 0 ? WorkSize::kSmall : WorkSize::kLarge, [&] { record.add("."); });
  }
  EXPECT_EQ(record.wait_for(1000).size(), 1000u);
}

}  // namespace
}  // namespace deberta::serve::work_pool_test
