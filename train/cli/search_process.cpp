// A pipe carries one number back.
#include "train/cli/search_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <exception>
#include <system_error>

#include "deberta/error.h"
#include "program/interrupt.h"

namespace deberta::train {
namespace {

constexpr int64_t kStopped = -1;
constexpr int64_t kFailed = -2;

[[noreturn]] void run_child(const Find& find, int answers) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int64_t answer = kFailed;
  try {
    const std::optional<size_t> found = find();
    answer = found ? static_cast<int64_t>(*found) : kStopped;
  } catch (const cli::Interrupted&) {
    answer = kStopped;
  } catch (const std::exception&) {
  }
  const bool is_written = ::write(answers, &answer, sizeof answer) == sizeof answer;
  ::_exit(is_written ? 0 : 1);
}

// Nothing where the child ended without an answer.
std::optional<int64_t> read_answer(int answers, pid_t child) {
  int64_t answer = 0;
  ssize_t count = 0;
  while ((count = ::read(answers, &answer, sizeof answer)) < 0 && errno == EINTR) {
    if (cli::interrupted() != 0) ::kill(child, SIGTERM);
  }
  return count == sizeof answer ? std::optional(answer) : std::nullopt;
}

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorCode::kInternal, what, std::generic_category().message(errno));
}

}  // namespace

std::optional<size_t> find_in_child(const Find& find) {
  int ends[2] = {};
  if (::pipe(ends) != 0) fail("pipe");
  const pid_t child = ::fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    ::close(ends[0]);
    run_child(find, ends[1]);
  }
  ::close(ends[1]);
  const std::optional<int64_t> answer = read_answer(ends[0], child);
  ::close(ends[0]);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (cli::interrupted() != 0) return std::nullopt;
  if (!answer) {
    throw Error(ErrorCode::kOutOfMemory, "batch size",
                "expected room for the step that was tried, but its process was ended from outside");
  }
  if (*answer == kFailed) return find();
  return *answer == kStopped ? std::nullopt : std::optional(static_cast<size_t>(*answer));
}

}  // namespace deberta::train
