// POSIX files: open, map, read, write new ones.
#include "base/file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/descriptor.h"
#include "deberta/error.h"

namespace deberta {
namespace {

// Opens a regular file for reading and returns its size too. O_NONBLOCK so that a FIFO without a writer cannot hang us.
std::pair<int, uint64_t> open_regular(const std::string& path) {
  Descriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd.get() < 0) throw Error(ErrorCode::kFileNotFound, path, fmt::format("cannot open: {}", system_message()));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) throw Error(ErrorCode::kFileRead, path, system_message());
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::kFileType, path,
                fmt::format("expected a regular file, got a {}", S_ISDIR(status.st_mode) ? "folder" : "special file"));
  }
  return {fd.release(), static_cast<uint64_t>(status.st_size)};
}

// Reads `size_bytes`, or less if the file ends; returns how many it read.
size_t read_into(int fd, const std::string& path, char* out, size_t size_bytes) {
  size_t done = 0;
  while (done < size_bytes) {
    const ssize_t count = ::read(fd, out + done, size_bytes - done);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw Error(ErrorCode::kFileRead, path, fmt::format("read failed: {}", system_message()));
    if (count == 0) break;
    done += static_cast<size_t>(count);
  }
  return done;
}

}  // namespace

MappedFile::MappedFile(const std::string& path, LoadMode mode) : MappedFile() {
  path_ = path;
  const auto [raw, size] = open_regular(path);
  const Descriptor fd(raw);
  if (size == 0) return;
  if (mode == LoadMode::kRead) {
    read(fd.get(), static_cast<size_t>(size));
  } else {
    map(fd.get(), static_cast<size_t>(size));
  }
}

void MappedFile::map(int fd, size_t size_bytes) {
  void* address = ::mmap(nullptr, size_bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) throw Error(ErrorCode::kFileRead, path_, fmt::format("mmap failed: {}", system_message()));
  bytes_ = Bytes(static_cast<const std::byte*>(address), size_bytes);
  entry_ = MappingEntry(address, size_bytes, path_);
}

// Into anonymous pages, which the destructor unmaps like those of a mapped file.
void MappedFile::read(int fd, size_t size_bytes) {
  void* address = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (address == MAP_FAILED)
    throw Error(ErrorCode::kOutOfMemory, path_, fmt::format("reading the file needs {} bytes of memory", size_bytes));
  bytes_ = Bytes(static_cast<const std::byte*>(address), size_bytes);
  const size_t done = read_into(fd, path_, static_cast<char*>(address), size_bytes);
  if (done < size_bytes)
    throw Error(ErrorCode::kFileRead, path_, fmt::format("expected {} bytes, got {}", size_bytes, done));
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})), entry_(std::move(other.entry_)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(bytes_, other.bytes_);
  std::swap(entry_, other.entry_);
  return *this;
}

void release_pages(Bytes bytes) noexcept {
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t begin = (address + page - 1) / page * page, end = (address + bytes.size()) / page * page;
  if (begin >= end || mapped_path_at(bytes.data()) == nullptr) return;
  auto* const first = const_cast<std::byte*>(bytes.data()) + (begin - address);
  ::madvise(first, end - begin, MADV_DONTNEED);  // harmless when it fails
}

std::string read_file(const std::string& path, uint64_t max_bytes) {
  const auto [raw, size] = open_regular(path);
  const Descriptor fd(raw);
  const auto check_size = [&](uint64_t size_bytes) {
    if (size_bytes <= max_bytes) return;
    throw Error(ErrorCode::kTooLarge, path, fmt::format("expected at most {} bytes, got {}", max_bytes, size_bytes));
  };
  check_size(size);
  std::string text(static_cast<size_t>(size), '\0');
  const size_t done = read_into(fd.get(), path, text.data(), text.size());
  if (done < text.size()) {
    throw Error(ErrorCode::kFileRead, path, fmt::format("expected {} bytes, got {}", text.size(), done));
  }
  // Kernel files (a cgroup's limits) report a size of 0 bytes but hold more.
  std::array<char, 4096> more;
  for (size_t count = 1; size == 0 && count > 0;) {
    count = read_into(fd.get(), path, more.data(), more.size());
    text.append(more.data(), count);
    check_size(text.size());
  }
  return text;
}

bool is_regular_file(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

bool is_stream(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

std::string parent_folder(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : slash == 0 ? "/" : path.substr(0, slash);
}

void write_new_file(const std::string& path, const std::function<void(FileWriter&)>& fill) {
  Descriptor fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (fd.get() < 0) throw Error(ErrorCode::kFileWrite, path, fmt::format("cannot create: {}", system_message()));
  try {
    fill_and_close(fd, path, fill);
  } catch (...) {
    ::unlink(path.c_str());
    throw;
  }
}

void sync_folder(const std::string& folder) {
  const Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() < 0) refuse_write(folder, "fsync");
  while (::fsync(fd.get()) != 0) {
    if (errno != EINTR) refuse_write(folder, "fsync");
  }
}

}  // namespace deberta
