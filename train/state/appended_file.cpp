// Cuts off what a killed process left half-written, and takes back a piece whose write failed.
#include "train/state/appended_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "deberta/error.h"

namespace deberta::train {

AppendedFile::AppendedFile(const std::string& path, const KeptBytes& kept_bytes) : path_(path) {
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
  if (fd.get() < 0) throw Error(ErrorCode::kFileWrite, path, fmt::format("cannot open: {}", system_message()));
  size_t size_bytes = 0, kept = 0;
  {
    const MappedFile file(path);
    size_bytes = file.bytes().size();
    kept = kept_bytes(to_text(file.bytes()));
  }
  if (kept < size_bytes && ::ftruncate(fd.get(), static_cast<off_t>(kept)) != 0) refuse_write(path, "ftruncate");
  fd_ = fd.release();
}

AppendedFile::~AppendedFile() {
  if (fd_ >= 0) ::close(fd_);
}

void AppendedFile::append(Bytes bytes) {
  struct stat status {};
  if (::fstat(fd_, &status) != 0) refuse_write(path_, "fstat");
  try {
    write_all(fd_, path_, bytes);
  } catch (...) {
    // Half a piece would spoil the next one. Where this fails too, the next start cuts it off.
    [[maybe_unused]] const int ignored = ::ftruncate(fd_, status.st_size);
    throw;
  }
}

void AppendedFile::sync() {
  if (::fsync(fd_) != 0) refuse_write(path_, "fsync");
}

size_t whole_lines(std::string_view text) {
  const size_t end = text.rfind('\n');
  return end == std::string_view::npos ? 0 : end + 1;
}

}  // namespace deberta::train
