// fork() with a pipe; the child dies with its parent and never returns from its function.
#include "train/cli/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>

#include "deberta/error.h"

namespace deberta::train {
namespace {

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorCode::kInternal, what, std::generic_category().message(errno));
}

}  // namespace

ChildProcess start_child(const std::function<void(int pipe)>& body) {
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
  const pid_t child = ::fork();
  if (child == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    body(ends[1]);
    ::_exit(1);
  }
  ::close(ends[1]);
  if (child > 0) return {child, ends[0]};
  ::close(ends[0]);
  fail("fork");
}

int await_child(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace deberta::train
