// A save of which any one call to the system is the last of the process, or fails; and the order of its calls. The
// calls of the library that is linked into this program go through the functions here.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <set>

#include "state_case.h"
#include "support/warnings.h"

namespace {

enum class Mode { kPass, kKill, kNoSpace, kIoError, kInterrupt, kShort };

struct System {
  Mode mode = Mode::kPass;
  int64_t chosen = 0;  // the call to which it happens, from 1
  int64_t calls = 0;
  std::vector<std::string> log;  // "sync PATH", "rename FROM TO", ...
  std::map<int, std::string> paths;
};
System calls;

constexpr int kKilled = 77;

// Whether the call is to fail, with errno set. `waits`: it can be interrupted.
bool fails(bool waits, const std::string& what) {
  calls.log.push_back(what);
  if (++calls.calls != calls.chosen) return false;
  if (calls.mode == Mode::kKill) ::_exit(kKilled);
  errno = calls.mode == Mode::kNoSpace ? ENOSPC : calls.mode == Mode::kIoError ? EIO : EINTR;
  return calls.mode == Mode::kNoSpace || calls.mode == Mode::kIoError || (calls.mode == Mode::kInterrupt && waits);
}

std::string path_of(int fd) {
  const auto path = calls.paths.find(fd);
  return path == calls.paths.end() ? "?" : path->second;
}

}  // namespace

// Under names of their own, so that no declaration of the system's headers is in the way.
extern "C" {
int counted_open(const char* path, int flags, mode_t mode) asm("open");
ssize_t counted_write(int fd, const void* bytes, size_t count) asm("write");
int counted_fsync(int fd) asm("fsync");
int counted_close(int fd) asm("close");
int counted_rename(const char* from, const char* to) asm("rename");
int counted_mkdir(const char* path, mode_t mode) asm("mkdir");
int counted_unlink(const char* path) asm("unlink");
int counted_rmdir(const char* path) asm("rmdir");

int counted_open(const char* path, int flags, mode_t mode) {
  if (fails(false, std::string((flags & O_CREAT) != 0 ? "create " : "open ") + path)) return -1;
  const auto fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
  if (fd >= 0) calls.paths[fd] = path;
  return fd;
}
ssize_t counted_write(int fd, const void* bytes, size_t count) {
  if (fails(true, "write " + path_of(fd))) return -1;
  const bool is_short = calls.mode == Mode::kShort && calls.calls == calls.chosen && count > 1;
  return ::syscall(SYS_write, fd, bytes, is_short ? count / 2 : count);
}
int counted_fsync(int fd) {
  return fails(true, "sync " + path_of(fd)) ? -1 : 0;  // the disk itself is not tested
}
int counted_close(int fd) {
  const bool has_failed = fails(true, "close " + path_of(fd));
  const int error = errno;
  const auto result = static_cast<int>(::syscall(SYS_close, fd));  // a failed close closes all the same
  errno = error;
  return has_failed ? -1 : result;
}
int counted_rename(const char* from, const char* to) {
  if (fails(false, std::string("rename ") + from + " " + to)) return -1;
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0));
}
int counted_mkdir(const char* path, mode_t mode) {
  if (fails(false, std::string("create ") + path)) return -1;
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}
int counted_unlink(const char* path) {
  if (fails(false, std::string("remove ") + path)) return -1;
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, 0));
}
int counted_rmdir(const char* path) {
  if (fails(false, std::string("remove ") + path)) return -1;
  return static_cast<int>(::syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}
}

namespace deberta::train::checkpoint_faults_test {
namespace {

using deberta::test::TemporaryFolder;
using deberta::test::Warnings;
using test::contents_of;
using test::save;

constexpr Rotation kOne{.keep_last = 1};  // so that each save also removes the one before

// The second save of a run. What is found afterwards is step 1 or step 2, as an undisturbed run leaves them.
class SecondSave : public testing::Test {
 protected:
  SecondSave() {
    for (const int64_t step : {1, 2}) complete_[step] = contents_of(save(other_.path(), step));
    calls = {};
    save(output_.path(), 1);
  }
  ~SecondSave() override { calls = {}; }

  // The calls of an undisturbed one.
  int64_t count_calls() {
    const TemporaryFolder folder;
    save(folder.path(), 1);
    calls = {};
    save(folder.path(), 2, kOne);
    EXPECT_GT(calls.calls, 30);
    return calls.calls;
  }
  void begin(Mode mode, int64_t chosen) {
    calls = {};
    calls.mode = mode;
    calls.chosen = chosen;
  }
  // The step that is found; it is whole.
  int64_t check_found() {
    calls = {};
    Warnings warnings;
    const auto checkpoint = find_checkpoint(output_.path());
    if (!checkpoint) return 0;
    EXPECT_FALSE(checkpoint->is_degraded) << warnings.text;
    EXPECT_EQ(contents_of(checkpoint->folder), complete_[checkpoint->state.step]);
    return checkpoint->state.step;
  }
  size_t count_temporaries() const {
    const auto names = names_in(output_.path());
    return static_cast<size_t>(std::count_if(
        names.begin(), names.end(), [](const std::string& name) { return name.find(".tmp-") != std::string::npos; }));
  }
  // Again as it was before the second save.
  void reset() {
    calls = {};
    std::filesystem::remove_all(output_.path());
    std::filesystem::create_directory(output_.path());
    save(output_.path(), 1);
  }

  const TemporaryFolder output_, other_;
  std::map<int64_t, std::map<std::string, std::string>> complete_;
};

TEST_F(SecondSave, KilledAtAnyCallLeavesTheOldCheckpointOrTheNewOne) {
  std::set<int64_t> steps;
  const int64_t count = count_calls();
  for (int64_t call = 1; call <= count; ++call) {
    const pid_t child = ::fork();
    if (child == 0) {
      begin(Mode::kKill, call);
      save(output_.path(), 2, kOne);
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kKilled) << "call " << call << " of " << count;
    const int64_t step = check_found();
    ASSERT_NE(step, 0) << "call " << call;
    steps.insert(step);
    remove_checkpoint_leftovers(output_.path());
    EXPECT_EQ(count_temporaries(), 0u) << "call " << call;
    save(output_.path(), 2, kOne);
    EXPECT_EQ(check_found(), 2) << "call " << call;
    EXPECT_EQ(names_in(output_.path()), (std::vector<std::string>{"LATEST", "checkpoint-000002"})) << "call " << call;
    reset();
  }
  EXPECT_EQ(steps, (std::set<int64_t>{1, 2}));
}

TEST_F(SecondSave, ThatFailsAtAnyCallSaysSoAndLeavesTheOldCheckpointOrTheNewOne) {
  const int64_t count = count_calls();
  for (const Mode mode : {Mode::kNoSpace, Mode::kIoError}) {
    int64_t failed = 0;
    for (int64_t call = 1; call <= count; ++call) {
      Warnings warnings;
      bool has_thrown = false;
      begin(mode, call);
      try {
        save(output_.path(), 2, kOne);
      } catch (const Error& error) {
        has_thrown = true;
        const std::string text = error.what();
        EXPECT_TRUE(text.starts_with(output_.path()) &&
                    text.find("bytes of the checkpoint had been written") != std::string::npos)
            << text;
      }
      // Once the new one is there, only what comes after it can still fail.
      const int64_t step = check_found();
      EXPECT_TRUE(step == 2 || (step == 1 && has_thrown)) << "call " << call;
      failed += has_thrown ? 1 : 0;
      EXPECT_TRUE(count_temporaries() == 0 ||
                  warnings.text.find("cannot remove an old checkpoint") != std::string::npos)
          << "call " << call;
      reset();
    }
    EXPECT_GT(failed, count / 2);
  }
}

TEST_F(SecondSave, IsTheSameWithInterruptedCallsAndShortWrites) {
  const int64_t count = count_calls();
  for (const Mode mode : {Mode::kInterrupt, Mode::kShort}) {
    for (int64_t call = 1; call <= count; ++call) {
      begin(mode, call);
      save(output_.path(), 2, kOne);
      ASSERT_EQ(check_found(), 2) << "call " << call;
      EXPECT_EQ(count_temporaries(), 0u);
      reset();
    }
  }
}

std::string parent_of(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

// A machine that loses its power may lose whatever was written or made since the last sync.
TEST_F(SecondSave, RenamesOnlyWhatIsSyncedAndGoesOnOnlyWhenTheRenameIs) {
  begin(Mode::kPass, 0);
  save(output_.path(), 2, kOne);
  std::set<std::string> unsynced, renamed_in;
  size_t renames = 0;
  for (const std::string& line : calls.log) {
    const std::string verb = line.substr(0, line.find(' '));
    const std::string path = line.substr(verb.size() + 1);
    if (verb == "write" || verb == "create") unsynced.insert(path);
    if (verb == "create") unsynced.insert(parent_of(path));
    if (verb == "sync") {
      unsynced.erase(path);
      renamed_in.erase(path);
    }
    if (verb == "rename" || verb == "remove") {
      EXPECT_TRUE(renamed_in.empty()) << *renamed_in.begin() << " is not synced before " << line;
    }
    if (verb != "rename") continue;
    const std::string from = path.substr(0, path.find(' '));
    for (const std::string& left : unsynced)
      EXPECT_FALSE(left.starts_with(from)) << left << " is not synced before " << line;
    renamed_in.insert(parent_of(from));
    ++renames;
  }
  EXPECT_EQ(renames, 3u);  // the checkpoint, LATEST, the old checkpoint
  EXPECT_TRUE(renamed_in.empty());
}

}  // namespace
}  // namespace deberta::train::checkpoint_faults_test
