// read(2), poll(2), and the decoders.
#include "data/byte_source.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "data/magic.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr size_t kChunkBytes = size_t{1} << 16;
constexpr int kAskEachMs = 100;

}  // namespace

ByteSource::ByteSource(const std::string& path, std::function<bool()> is_stopped)
    : name_(path == "-" ? "standard input" : path),
      fd_(STDIN_FILENO),
      stop_(std::move(is_stopped)),
      compression_(path == "-" ? Compression::kNone : compression_of(path)),
      decompressor_(make_decompressor(compression_)) {
  if (path != "-") {
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd_ < 0) throw Error(ErrorCode::kFileNotFound, path, fmt::format("cannot open: {}", std::strerror(errno)));
  }
  struct stat status {};
  const bool is_known = ::fstat(fd_, &status) == 0;
  if (is_known && S_ISDIR(status.st_mode)) {
    if (fd_ > STDIN_FILENO) ::close(std::exchange(fd_, -1));
    throw Error(ErrorCode::kFileType, name_, "expected a file, got a folder");
  }
  if (is_known && S_ISREG(status.st_mode)) total_bytes_ = static_cast<uint64_t>(status.st_size);
}

ByteSource::ByteSource(Bytes bytes, std::string name, Compression compression)
    : name_(std::move(name)),
      memory_(bytes),
      compression_(compression),
      decompressor_(make_decompressor(compression)),
      total_bytes_(bytes.size()) {}

ByteSource::ByteSource(ByteSource&& other) noexcept
    : name_(std::move(other.name_)),
      fd_(std::exchange(other.fd_, -1)),
      memory_(other.memory_),
      stop_(std::move(other.stop_)),
      compression_(other.compression_),
      decompressor_(std::move(other.decompressor_)),
      stored_(std::move(other.stored_)),
      stored_begin_(other.stored_begin_),
      stored_end_(other.stored_end_),
      utf16_(std::move(other.utf16_)),
      ahead_(std::move(other.ahead_)),
      ahead_begin_(other.ahead_begin_),
      is_begun_(other.is_begun_),
      is_at_end_(other.is_at_end_),
      is_whole_(other.is_whole_),
      is_pending_(other.is_pending_),
      total_bytes_(other.total_bytes_),
      read_bytes_(other.read_bytes_) {}

ByteSource::~ByteSource() {
  if (fd_ > STDIN_FILENO) ::close(fd_);
}

bool ByteSource::is_stopped() const {
  return stop_ && stop_();
}

std::optional<double> ByteSource::fraction_read() const {
  if (total_bytes_.value_or(0) == 0) return std::nullopt;
  return static_cast<double>(read_bytes_) / static_cast<double>(*total_bytes_);
}

// The next stored bytes; 0 at the end.
size_t ByteSource::read_stored(std::span<std::byte> out) {
  if (is_at_end_) return 0;
  ssize_t count = -1;
  if (fd_ < 0) {
    const size_t part = std::min(out.size(), memory_.size());
    std::copy_n(memory_.begin(), part, out.begin());
    memory_ = memory_.subspan(part);
    count = static_cast<ssize_t>(part);
  }
  while (fd_ >= 0 && count < 0) {
    if (is_stopped()) {
      count = 0;
      break;
    }
    pollfd query{fd_, POLLIN, 0};
    if (stop_ && ::poll(&query, 1, kAskEachMs) <= 0) continue;  // another thread may stop it meanwhile
    count = ::read(fd_, out.data(), out.size());
    if (count < 0 && errno != EINTR) throw Error(ErrorCode::kFileRead, name_, std::strerror(errno));
  }
  is_at_end_ = count == 0;
  read_bytes_ += static_cast<uint64_t>(count);
  return static_cast<size_t>(count);
}

void ByteSource::check(const Decompressor::Step& step) const {
  const uint64_t position = read_bytes_ - (stored_end_ - stored_begin_);
  if (step.is_too_large) {
    throw Error(ErrorCode::kTooLarge, name_,
                fmt::format("{} stream at byte {}: its decoder would need more than {} bytes; compress it with a "
                            "smaller window",
                            to_string(compression_), position, Decompressor::kMaxMemoryBytes));
  }
  if (!step.problem.empty()) {
    throw Error(ErrorCode::kFileRead, name_,
                fmt::format("damaged {} stream at byte {}: {}", to_string(compression_), position, step.problem));
  }
}

size_t ByteSource::decompress(std::span<std::byte> out) {
  for (;;) {
    if (stored_begin_ == stored_end_ && !is_at_end_ && !is_pending_) {
      stored_.resize(kChunkBytes);
      stored_begin_ = stored_end_ = 0;
      stored_end_ = read_stored(stored_);
    }
    if (is_stopped()) return 0;  // an end that came early is not that of the stream
    const Bytes in = Bytes(stored_).subspan(stored_begin_, stored_end_ - stored_begin_);
    const Decompressor::Step step = decompressor_->step(in, out, is_at_end_);
    stored_begin_ += step.consumed;
    check(step);
    is_pending_ = step.produced == out.size();
    if (step.consumed > 0 || step.produced > 0) is_whole_ = false;
    if (step.is_whole) is_whole_ = true;
    if (step.produced > 0) return step.produced;
    if (step.consumed > 0 || (in.empty() && !is_at_end_)) continue;
    if (is_whole_) return 0;
    throw Error(ErrorCode::kFileRead, name_,
                fmt::format("{} stream: expected more after byte {}, got the end; the file is truncated",
                            to_string(compression_), read_bytes_));
  }
}

// Decompressed, but in the file's own encoding.
size_t ByteSource::read_decoded(std::span<char> out) {
  const std::span<std::byte> bytes = std::as_writable_bytes(out);
  if (decompressor_ != nullptr) return decompress(bytes);
  if (stored_begin_ == stored_end_) return read_stored(bytes);
  const size_t count = std::min(bytes.size(), stored_end_ - stored_begin_);
  std::copy_n(stored_.begin() + static_cast<std::ptrdiff_t>(stored_begin_), count, bytes.begin());
  stored_begin_ += count;
  return count;
}

// Looks at the first bytes, waiting only while they may still turn out to be something other than text.
void ByteSource::begin() {
  is_begun_ = true;
  stored_.resize(kChunkBytes);
  const auto stored = [&] { return std::string_view(reinterpret_cast<const char*>(stored_.data()), stored_end_); };
  while (may_become_compression(stored())) {
    const size_t count = read_stored(std::span(stored_).subspan(stored_end_));
    if (count == 0) break;
    stored_end_ += count;
  }
  if (const Compression inner = compression_in(stored()); inner != Compression::kNone && inner != compression_) {
    compression_ = inner;
    decompressor_ = make_decompressor(inner);
  }
  while (is_too_short_to_tell(ahead_) && fill_ahead()) {
  }
  check_text(ahead_, name_);
  size_t mark_bytes = 0;
  const TextEncoding encoding = encoding_of(ahead_, mark_bytes);
  ahead_.erase(0, mark_bytes);
  if (encoding == TextEncoding::kUtf8) return check_text(ahead_, name_);
  utf16_.emplace(encoding == TextEncoding::kUtf16Be);
  ahead_ = utf16_->decode(ahead_, false);
}

// Decodes some more. False at the end.
bool ByteSource::fill_ahead() {
  ahead_.erase(0, std::exchange(ahead_begin_, 0));
  std::string more(kChunkBytes, '\0');
  more.resize(read_decoded(more));
  const bool is_end = more.empty();
  if (utf16_) more = utf16_->decode(more, is_end);
  ahead_ += more;
  return !is_end || !more.empty();
}

size_t ByteSource::read(std::span<char> out) {
  if (!is_begun_) begin();
  while (utf16_ && ahead_begin_ == ahead_.size() && fill_ahead()) {
  }
  if (ahead_begin_ == ahead_.size() && !utf16_) return read_decoded(out);
  const size_t count = std::min(out.size(), ahead_.size() - ahead_begin_);
  std::copy_n(ahead_.begin() + static_cast<std::ptrdiff_t>(ahead_begin_), count, out.begin());
  ahead_begin_ += count;
  return count;
}

std::string_view ByteSource::peek_line(size_t max_bytes) {
  if (!is_begun_) begin();
  const auto rest = [&] { return std::string_view(ahead_).substr(ahead_begin_, max_bytes); };
  const auto first = [&] { return std::min(rest().find_first_not_of(" \t\r\n"), rest().size()); };
  while (rest().size() < max_bytes && rest().find('\n', first()) == std::string_view::npos && fill_ahead()) {
  }
  const size_t begin = rest().substr(0, first()).rfind('\n') + 1;  // without one: 0
  return rest().substr(begin, std::min(rest().find('\n', first()), rest().size()) - begin);
}

bool ByteSource::is_ready() const {
  if (fd_ < 0 || is_at_end_ || is_pending_ || stored_begin_ != stored_end_ || ahead_begin_ != ahead_.size())
    return true;
  pollfd query{fd_, POLLIN, 0};
  return ::poll(&query, 1, 0) > 0;
}

std::string read_rest(ByteSource& source, size_t max_bytes) {
  std::string text;
  for (;;) {
    const size_t used = text.size();
    text.resize(used + kChunkBytes);
    const size_t count = source.read(std::span(text).subspan(used));
    text.resize(used + count);
    if (text.size() > max_bytes)
      throw Error(ErrorCode::kTooLarge, source.name(), fmt::format("expected at most {} bytes", max_bytes));
    if (count == 0) return text;
  }
}

}  // namespace deberta
