// Reads by parts: files are larger than memory.
#include "jobs/file_state.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "base/descriptor.h"
#include "base/sha256.h"
#include "deberta/error.h"

namespace deberta::jobs {

int64_t nanoseconds(const struct timespec& time) {
  constexpr int64_t kPerSecond = 1000000000;
  return int64_t{time.tv_sec} * kPerSecond + time.tv_nsec;
}

std::optional<FileStamp> stamp_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileStamp{static_cast<uint64_t>(status.st_size), uint64_t{status.st_ino}, nanoseconds(status.st_mtim),
                   nanoseconds(status.st_ctim)};
}

std::string sha256_of_file(const std::string& path, const std::function<void()>& check) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) throw Error(ErrorCode::kFileNotFound, path, "cannot open: " + system_message());
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode))
    throw Error(ErrorCode::kFileType, path, "expected a file");
  constexpr size_t kPartBytes = size_t{1} << 20;
  std::vector<std::byte> part(kPartBytes);
  Sha256 hash;
  for (;;) {
    check();
    const ssize_t count = ::read(file.get(), part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(ErrorCode::kFileRead, path, "read failed: " + system_message());
    if (count == 0) return hash.finish();
    hash.update(Bytes(part).first(static_cast<size_t>(count)));
  }
}

}  // namespace deberta::jobs
