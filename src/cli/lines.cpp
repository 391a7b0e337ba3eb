// read(2), poll(2) and a buffer.
#include "cli/lines.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "cli/interrupt.h"

namespace deberta::cli {

LineReader::LineReader(const std::string& path) : path_(path == "-" ? "standard input" : path) {
  if (path != "-") {
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) throw Error(ErrorCode::kFileNotFound, path, fmt::format("cannot open: {}", std::strerror(errno)));
  }
  struct stat status {};
  if (::fstat(fd_, &status) == 0 && S_ISREG(status.st_mode)) total_bytes_ = static_cast<uint64_t>(status.st_size);
}

LineReader::~LineReader() {
  if (fd_ != 0) ::close(fd_);
}

bool LineReader::fill() {
  if (at_end_) return false;
  buffer_.erase(0, std::exchange(position_, 0));
  const size_t used = buffer_.size();
  constexpr size_t kChunk = size_t{1} << 16;
  buffer_.resize(used + kChunk);
  ssize_t count = -1;
  do {
    if (interrupted() != 0)
      count = 0;
    else
      count = ::read(fd_, buffer_.data() + used, kChunk);
  } while (count < 0 && errno == EINTR);
  if (count < 0) throw Error(ErrorCode::kFileRead, path_, std::strerror(errno));
  buffer_.resize(used + static_cast<size_t>(count));
  read_bytes_ += static_cast<uint64_t>(count);
  at_end_ = count == 0;
  return !at_end_;
}

LineReader::Status LineReader::next(std::string& line) {
  size_t searched = 0;  // bytes after position_ known to hold no line end
  bool is_too_long = false;
  for (;;) {
    const size_t end = buffer_.find('\n', position_ + searched);
    if (end != std::string::npos) {
      line.assign(buffer_, position_, end - position_);
      position_ = end + 1;
      break;
    }
    searched = buffer_.size() - position_;
    if (searched > kMaxLineBytes) {
      is_too_long = true;
      position_ = buffer_.size();
      searched = 0;
    }
    if (fill()) continue;
    if (position_ == buffer_.size() && !is_too_long) return Status::kEnd;
    if (interrupted() != 0) return Status::kEnd;  // a line cut short by Ctrl-C is no line
    line.assign(buffer_, position_);
    position_ = buffer_.size();
    break;
  }
  if (std::exchange(is_first_, false) && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  if (line.ends_with('\r')) line.pop_back();
  return is_too_long || line.size() > kMaxLineBytes ? Status::kTooLong : Status::kLine;
}

bool LineReader::is_ready() const {
  if (at_end_ || buffer_.find('\n', position_) != std::string::npos) return true;
  pollfd query{fd_, POLLIN, 0};
  return ::poll(&query, 1, 0) > 0;
}

}  // namespace deberta::cli
