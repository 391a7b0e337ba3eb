// A pipe carries one number back.
#include "train/cli/search_process.h"

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <exception>

#include "deberta/error.h"
#include "program/interrupt.h"
#include "train/cli/child_process.h"

namespace deberta::train {
namespace {

constexpr int64_t kStopped = -1;
constexpr int64_t kFailed = -2;

[[noreturn]] void answer(const Find& find, int answers) {
  int64_t number = kFailed;
  try {
    const std::optional<size_t> accumulation = find();
    number = accumulation ? static_cast<int64_t>(*accumulation) : kStopped;
  } catch (const program::Interrupted&) {
    number = kStopped;
  } catch (const std::exception&) {
  }
  const bool is_written = ::write(answers, &number, sizeof number) == sizeof number;
  ::_exit(is_written ? 0 : 1);
}

// Nothing where the child ended without an answer.
std::optional<int64_t> read_answer(int answers, pid_t child) {
  int64_t answer = 0;
  ssize_t count = 0;
  while ((count = ::read(answers, &answer, sizeof answer)) < 0 && errno == EINTR) {
    if (program::interrupted() != 0) ::kill(child, SIGTERM);
  }
  return count == sizeof answer ? std::optional(answer) : std::nullopt;
}

}  // namespace

std::optional<size_t> find_in_child(const Find& find) {
  const ChildProcess child = start_child([&](int pipe) { answer(find, pipe); });
  const std::optional<int64_t> reply = read_answer(child.heard, child.id);
  ::close(child.heard);
  await_child(child.id);
  if (program::interrupted() != 0) return std::nullopt;
  if (!reply) {
    throw Error(ErrorCode::kOutOfMemory, "batch size",
                "expected enough memory for the step that was tried, but its process was killed");
  }
  if (*reply == kFailed) return find();
  return *reply == kStopped ? std::nullopt : std::optional(static_cast<size_t>(*reply));
}

}  // namespace deberta::train
