// A thread with a bounded buffer writes in pieces that a pipe takes at once, and reopens the file on request.
#include "cli/log_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "base/descriptor.h"
#include "deberta/error.h"

namespace deberta::cli {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;  // waiting at most
constexpr size_t kPiece = 4096;                 // a pipe that is ready takes so many as a whole (PIPE_BUF)
constexpr int kPollMs = 50;
// At the end: waiting lines are dropped when none was taken for kEndTime, or some are left after kMostEndTimes of it.
constexpr auto kEndTime = std::chrono::milliseconds(500);
constexpr int kMostEndTimes = 10;

// What one write takes: whole lines, unless one is longer than a piece. So no line that was begun is cut.
std::string_view piece_of(std::string_view text) {
  const std::string_view piece = text.substr(0, kPiece);
  const size_t end = piece.rfind('\n');
  return end == std::string_view::npos ? piece : piece.substr(0, end + 1);
}

int open_log(const std::string& path) {
  return ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
}

}  // namespace

struct LogWriter::State {
  ~State() {
    if (file >= 0) ::close(file);
  }
  void run();
  void open_again();
  bool write(std::string_view text);
  bool is_ready(int fd);

  std::string path;
  std::function<std::string(size_t)> tell_dropped;
  mutable std::mutex mutex;
  std::condition_variable changed;
  std::string waiting;
  int file = -1;                     // negative: standard error
  size_t pieces = 0;                 // written
  size_t dropped = 0, reported = 0;  // lines dropped, and those of them that the log has reported
  bool reopens = false, is_stopped = false, is_given_up = false, has_ended = false;
};

// Waits until a piece can be written; false: it is dropped.
bool LogWriter::State::is_ready(int fd) {
  while (true) {
    pollfd descriptor{fd, POLLOUT, 0};
    const int ready = ::poll(&descriptor, 1, kPollMs);
    if (ready > 0) return true;
    const std::lock_guard lock(mutex);
    if (is_given_up || (ready < 0 && errno != EINTR)) return false;
  }
}

// False: the rest cannot be written.
bool LogWriter::State::write(std::string_view text) {
  const int fd = file >= 0 ? file : STDERR_FILENO;
  while (!text.empty()) {
    if (!is_ready(fd)) return false;
    const ssize_t done = ::write(fd, text.data(), piece_of(text).size());
    if (done > 0) {
      text.remove_prefix(static_cast<size_t>(done));
      const std::lock_guard lock(mutex);
      ++pieces;
    }
    if (done < 0 && errno != EINTR && errno != EAGAIN) return false;
  }
  return true;
}

void LogWriter::State::open_again() {
  const int fresh = open_log(path);
  if (fresh < 0) return;
  ::close(file);
  file = fresh;
}

void LogWriter::State::run() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return is_stopped || reopens || !waiting.empty(); });
    if (std::exchange(reopens, false)) open_again();
    if (waiting.empty()) {
      if (is_stopped) break;
      continue;
    }
    std::string text = std::exchange(waiting, {});
    const size_t count = dropped - reported;
    reported = dropped;
    if (count > 0) text += tell_dropped(count) + '\n';
    lock.unlock();
    const bool is_written = write(text);
    lock.lock();
    if (!is_written) dropped += static_cast<size_t>(std::count(text.begin(), text.end(), '\n'));
    if (is_given_up) break;
  }
  has_ended = true;
  changed.notify_all();
}

LogWriter::LogWriter(const std::string& path, std::function<std::string(size_t)> tell_dropped)
    : state_(std::make_shared<State>()) {
  state_->path = path;
  state_->tell_dropped = std::move(tell_dropped);
  if (!path.empty()) {
    state_->file = open_log(path);
    if (state_->file < 0) throw Error(ErrorCode::kFileWrite, path, fmt::format("cannot open: {}", system_message()));
  }
  std::thread([state = state_] { state->run(); }).detach();  // it may be within a write that does not end
}

LogWriter::~LogWriter() {
  std::unique_lock lock(state_->mutex);
  state_->is_stopped = true;
  state_->changed.notify_all();
  const auto has_ended = [this] { return state_->has_ended; };
  for (int times = 0; times < kMostEndTimes; ++times) {
    const size_t before = state_->pieces;
    if (state_->changed.wait_for(lock, kEndTime, has_ended)) return;
    if (state_->pieces == before) break;
  }
  state_->is_given_up = true;
  state_->changed.wait_for(lock, kEndTime, has_ended);
}

void LogWriter::add(const std::string& line) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->waiting.size() + line.size() >= kMostBytes) {
      ++state_->dropped;
      return;
    }
    state_->waiting += line;
    state_->waiting += '\n';
  }
  state_->changed.notify_all();
}

void LogWriter::reopen() {
  const std::lock_guard lock(state_->mutex);
  state_->reopens = !state_->path.empty();
  state_->changed.notify_all();
}

size_t LogWriter::dropped() const {
  const std::lock_guard lock(state_->mutex);
  return state_->dropped;
}

}  // namespace deberta::cli
