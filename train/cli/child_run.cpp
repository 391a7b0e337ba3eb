// Lines of a pipe: {"progress": ...} is read, everything else is kept.
#include "train/cli/child_run.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>

#include "base/json.h"
#include "deberta/error.h"
#include "program/interrupt.h"

namespace deberta::train {
namespace {

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorCode::kInternal, what, std::generic_category().message(errno));
}

[[noreturn]] void become(const std::vector<std::string>& words, int told) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::dup2(told, STDOUT_FILENO);
  ::dup2(told, STDERR_FILENO);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  ::execv("/proc/self/exe", arguments.data());
  ::_exit(127);
}

class Listener {
 public:
  Listener(const std::string& log_path, const std::function<void(double)>& on_progress)
      : path_(log_path), log_(std::fopen(log_path.c_str(), "a"), &std::fclose), on_progress_(on_progress) {
    if (log_ == nullptr) throw Error(ErrorCode::kFileWrite, path_, std::generic_category().message(errno));
  }

  void hear(std::string_view part) {
    for (const char c : part) {
      if (c != '\n') {
        line_ += c;
        continue;
      }
      take();
      line_.clear();
    }
  }
  const std::string& last() const { return last_; }

 private:
  void take() {
    if (line_.starts_with("{\"progress\"")) {
      const Json told = parse_json(line_, "progress");
      const Json* fraction = told.find("progress")->find("fraction");
      if (fraction != nullptr && fraction->is_number()) on_progress_(fraction->as_number());
      return;
    }
    last_ = line_;
    if (std::fprintf(log_.get(), "%s\n", line_.c_str()) < 0 || std::fflush(log_.get()) != 0)
      throw Error(ErrorCode::kFileWrite, path_, std::generic_category().message(errno));
  }

  std::string path_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> log_;
  const std::function<void(double)>& on_progress_;
  std::string line_, last_;
};

// Until the child has closed the pipe.
void listen(int heard, pid_t child, Listener& listener) {
  char part[4096];
  bool is_told = false;
  while (true) {
    if (cli::interrupted() != 0 && !is_told) {
      ::kill(child, SIGTERM);
      is_told = true;
    }
    const ssize_t count = ::read(heard, part, sizeof part);
    if (count == 0) return;
    if (count > 0)
      listener.hear({part, static_cast<size_t>(count)});
    else if (errno != EINTR)
      return;
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

ChildEnd run_child(const std::vector<std::string>& words, const std::string& log_path,
                   const std::function<void(double)>& on_progress) {
  Listener listener(log_path, on_progress);
  int ends[2] = {};
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe");
  const pid_t child = ::fork();
  if (child == 0) become(words, ends[1]);
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    fail("fork");
  }
  try {
    listen(ends[0], child, listener);
  } catch (...) {  // what is told has no place: the run ends as on a signal
    ::kill(child, SIGTERM);
    ::close(ends[0]);
    wait_for(child);
    throw;
  }
  ::close(ends[0]);
  return {wait_for(child), listener.last()};
}

}  // namespace deberta::train
