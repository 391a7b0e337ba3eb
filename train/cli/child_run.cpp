// Lines of a pipe: {"progress": ...} is read, everything else is kept.
#include "train/cli/child_run.h"

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
#include "train/cli/child_process.h"

namespace deberta::train {
namespace {

[[noreturn]] void become(const std::vector<std::string>& words, int pipe) {
  ::dup2(pipe, STDOUT_FILENO);
  ::dup2(pipe, STDERR_FILENO);
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
      const Json report = parse_json(line_, "progress");
      const Json* fraction = report.find("progress")->find("fraction");
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
  bool is_signalled = false;
  while (true) {
    if (program::interrupted() != 0 && !is_signalled) {
      ::kill(child, SIGTERM);
      is_signalled = true;
    }
    const ssize_t count = ::read(heard, part, sizeof part);
    if (count == 0) return;
    if (count > 0)
      listener.hear({part, static_cast<size_t>(count)});
    else if (errno != EINTR)
      return;
  }
}

}  // namespace

RunEnd run_child(const std::vector<std::string>& words, const std::string& log_path,
                 const std::function<void(double)>& on_progress) {
  Listener listener(log_path, on_progress);
  const ChildProcess child = start_child([&](int pipe) { become(words, pipe); });
  try {
    listen(child.heard, child.id, listener);
  } catch (...) {  // its output cannot be written: the run ends as on a signal
    ::kill(child.id, SIGTERM);
    ::close(child.heard);
    await_child(child.id);
    throw;
  }
  ::close(child.heard);
  return {await_child(child.id), listener.last()};
}

}  // namespace deberta::train
