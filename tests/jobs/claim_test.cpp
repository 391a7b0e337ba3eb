// A claim has one owner, and one process takes it over once that one is gone.
#include "jobs/claim.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <filesystem>
#include <memory>
#include <thread>
#include <vector>

#include "base/file.h"
#include "jobs/file_state.h"
#include "support/expect_error.h"
#include "support/paths.h"

namespace deberta::jobs::claim_test {
namespace {

using test::TemporaryFolder;
using test::write_text;
namespace fs = std::filesystem;

constexpr int64_t kSecond = 1000000000;

// Of a process of this host that has ended.
Owner dead_owner() {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(0);
  int status = 0;
  ::waitpid(pid, &status, 0);
  Owner owner = this_process();
  owner.pid = pid;
  return owner;
}

void make_older(const std::string& path, int64_t age_seconds) {
  struct timespec times[2];
  ::clock_gettime(CLOCK_REALTIME, &times[0]);
  times[0].tv_sec -= age_seconds;
  times[1] = times[0];
  ASSERT_EQ(::utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
}

void write_claim(const std::string& path, const Owner& owner, int64_t age_seconds = 0) {
  write_text(path, to_json(owner).dump());
  if (age_seconds > 0) make_older(path, age_seconds);
}

TEST(Owner, HasEndedOnlyWhereThisSystemCanTell) {
  const Owner here = this_process(), dead = dead_owner();
  EXPECT_FALSE(has_ended(here, here));
  EXPECT_TRUE(has_ended(dead, here));
  Owner other = dead;
  other.boot = "00000000-0000-0000-0000-000000000000";
  EXPECT_FALSE(has_ended(other, here)) << "another host, or before this one was started anew";
  other = dead;
  other.pid_namespace = "pid:[1]";
  EXPECT_FALSE(has_ended(other, here)) << "another container";
  other = here;
  other.start_ticks += 1;
  EXPECT_TRUE(has_ended(other, here)) << "its number belongs to another process now";
  other = here;
  other.boot = "";
  EXPECT_FALSE(has_ended(other, other)) << "a system without an id";
}

TEST(Owner, SurvivesItsJson) {
  const Owner here = this_process();
  EXPECT_GT(here.start_ticks, 0);
  const auto read = owner_from(to_json(here));
  ASSERT_TRUE(read);
  EXPECT_EQ(to_json(*read).dump(), to_json(here).dump());
  EXPECT_FALSE(owner_from(parse_json(R"({"host": "a"})", "")));
  EXPECT_FALSE(owner_from(Json(1)));
}

TEST(Claim, HasOneOwnerAndGoesWithIt) {
  const TemporaryFolder scratch;
  const std::string path = scratch.path("a.claim");
  {
    const auto claim = Claim::take(path, this_process());
    ASSERT_NE(claim, nullptr);
    EXPECT_TRUE(claim->is_held());
    EXPECT_EQ(Claim::take(path, this_process()), nullptr);
    const auto found = find_claim(path);
    ASSERT_TRUE(found && found->owner);
    EXPECT_EQ(found->owner->pid, ::getpid());
    EXPECT_FALSE(is_stale(*found, this_process(), FileClock(scratch.path())));
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_FALSE(find_claim(path));
}

TEST(Claim, ThatWasLostIsNotRemovedByItsFormerOwner) {
  const TemporaryFolder scratch;
  const std::string path = scratch.path("a.claim");
  auto claim = Claim::take(path, this_process());
  ASSERT_NE(claim, nullptr);
  const auto other = take_over(path, *find_claim(path), this_process());
  ASSERT_NE(other, nullptr);
  EXPECT_FALSE(claim->is_held());
  claim.reset();
  EXPECT_TRUE(other->is_held());
  EXPECT_TRUE(fs::exists(path));
}

TEST(Claim, IsStaleByTheClockOfItsFileSystemOrWhenItsOwnerIsGone) {
  const TemporaryFolder scratch;
  const FileClock clock(scratch.path());
  const std::string path = scratch.path("a.claim");
  Owner elsewhere = dead_owner();
  elsewhere.boot = "another host";
  const auto is_stale_after = [&](const Owner& owner, int64_t seconds) {
    write_claim(path, owner, seconds);
    return is_stale(*find_claim(path), this_process(), clock);
  };
  EXPECT_FALSE(is_stale_after(elsewhere, 0));
  EXPECT_FALSE(is_stale_after(elsewhere, 55));
  EXPECT_TRUE(is_stale_after(elsewhere, 65));
  EXPECT_TRUE(is_stale_after(this_process(), 65)) << "stopped, perhaps for good";
  EXPECT_TRUE(is_stale_after(dead_owner(), 0));
  write_text(path, "");  // made, and not written yet
  EXPECT_FALSE(is_stale(*find_claim(path), this_process(), clock));
  make_older(path, 15);
  EXPECT_TRUE(is_stale(*find_claim(path), this_process(), clock));
}

TEST(FileClock, LeavesNothingAndGoesForward) {
  const TemporaryFolder scratch;
  const FileClock clock(scratch.path());
  EXPECT_TRUE(fs::is_empty(scratch.path()));
  const int64_t first = clock.now();
  EXPECT_GE(clock.now(), first);
  struct timespec now {};
  ::clock_gettime(CLOCK_REALTIME, &now);
  EXPECT_LT(std::abs(nanoseconds(now) - first), 600 * kSecond);
}

TEST(TakeOver, SparesAClaimThatIsNotTheOneFound) {
  const TemporaryFolder scratch;
  const std::string path = scratch.path("a.claim");
  write_claim(path, dead_owner(), 100);
  const FoundClaim found = *find_claim(path);
  write_claim(path, dead_owner());  // touched since, by an owner that was asleep
  EXPECT_EQ(take_over(path, found, this_process()), nullptr);
  EXPECT_TRUE(fs::exists(path));

  fs::remove(path);
  const auto claim = Claim::take(path, this_process());  // taken over since, by another process
  EXPECT_EQ(take_over(path, found, this_process()), nullptr);
  EXPECT_TRUE(claim->is_held());
  EXPECT_EQ(test::files_in(scratch.path()), 1u);
}

TEST(TakeOver, HasOneWinner) {
  const TemporaryFolder scratch;
  const Owner dead = dead_owner(), here = this_process();
  constexpr size_t kThreads = 8, kRounds = 200;
  for (size_t round = 0; round < kRounds; ++round) {
    const std::string path = scratch.path("claim");
    write_claim(path, dead, 100);
    std::atomic<size_t> waiting = kThreads;
    std::vector<std::unique_ptr<Claim>> claims(kThreads);
    {
      std::vector<std::jthread> threads;
      for (size_t i = 0; i < kThreads; ++i) {
        threads.emplace_back([&, i] {
          const FoundClaim found = *find_claim(path);
          for (--waiting; waiting > 0;) std::this_thread::yield();
          claims[i] = take_over(path, found, here);
        });
      }
    }
    size_t held = 0;
    for (const auto& claim : claims) held += claim != nullptr && claim->is_held();
    EXPECT_LE(held, 1u);
    const auto left = find_claim(path);
    EXPECT_FALSE(held == 0 && left && left->owner && left->owner->pid == dead.pid) << "round " << round;
    claims.clear();
    fs::remove(path);
    EXPECT_TRUE(fs::is_empty(scratch.path())) << "round " << round;
  }
}

}  // namespace
}  // namespace deberta::jobs::claim_test
