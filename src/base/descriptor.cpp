// Writing resumes after interruptions and short writes.
#include "base/descriptor.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "deberta/error.h"

namespace deberta {
namespace {

// Small parts are buffered; large ones go straight through.
class BufferedWriter final : public FileWriter {
 public:
  BufferedWriter(int fd, const std::string& path) : fd_(fd), path_(path) {}
  void write(Bytes bytes) override {
    if (pending_.size() + bytes.size() > kBufferBytes) flush();
    if (bytes.size() > kBufferBytes) return write_all(fd_, path_, bytes);
    pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  }
  void flush() {
    write_all(fd_, path_, pending_);
    pending_.clear();
  }

 private:
  static constexpr size_t kBufferBytes = size_t{1} << 16;

  int fd_;
  const std::string& path_;
  std::vector<std::byte> pending_;
};

}  // namespace

Descriptor::~Descriptor() {
  if (fd_ >= 0) ::close(fd_);
}

int Descriptor::release() {
  return std::exchange(fd_, -1);
}

std::string system_message() {
  return std::strerror(errno);
}

void refuse_write(const std::string& path, std::string_view call) {
  throw Error(ErrorCode::kFileWrite, path, fmt::format("{} failed: {}", call, system_message()));
}

void write_all(int fd, const std::string& path, Bytes bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse_write(path, "write");
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
}

void close_checked(Descriptor& fd, const std::string& path) {
  if (::close(fd.release()) != 0 && errno != EINTR) refuse_write(path, "close");  // interrupted: closed all the same
}

void fill_and_close(Descriptor& fd, const std::string& path, const std::function<void(FileWriter&)>& fill) {
  BufferedWriter writer(fd.get(), path);
  fill(writer);
  writer.flush();
  while (::fsync(fd.get()) != 0) {
    if (errno != EINTR) refuse_write(path, "fsync");
  }
  close_checked(fd, path);
}

}  // namespace deberta
