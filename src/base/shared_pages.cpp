// A file for each content, found by a name that a sample of the bytes gives. Who maps it holds a shared lock, so that a
// file without locks has no owner and may be removed.
#include "base/shared_pages.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/checked.h"
#include "base/descriptor.h"
#include "base/folder.h"
#include "base/sha256.h"
#include "base/temporary.h"
#include "deberta/error.h"

namespace deberta {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kSampleBytes = 64;   // bytes of each page that the name is made of
constexpr int kPublishAttempts = 10;  // another process may publish or remove the file meanwhile

std::string shared_prefix() {
  return fmt::format("deberta-weights-{}-", ::geteuid());
}

std::string shared_name(std::span<const std::span<std::byte>> pages) {
  Sha256 hash;
  for (const std::span<std::byte> block : pages) {
    hash.update(to_bytes(fmt::format("{} ", block.size())));
    for (size_t at = 0; at < block.size(); at += kPageBytes) hash.update(block.subspan(at, kSampleBytes));
  }
  return shared_prefix() + hash.finish().substr(0, 32);
}

std::span<std::byte> whole_pages(std::span<std::byte> block) {
  const size_t skipped = (kPageBytes - reinterpret_cast<uintptr_t>(block.data()) % kPageBytes) % kPageBytes;
  if (skipped >= block.size()) return {};
  return block.subspan(skipped, (block.size() - skipped) / kPageBytes * kPageBytes);
}

bool try_shared_lock(int fd) {
  return ::flock(fd, LOCK_SH | LOCK_NB) == 0;
}

// The process's own file, whole, of this size.
bool is_ours(int fd, size_t size_bytes) {
  struct stat opened {};
  return ::fstat(fd, &opened) == 0 && S_ISREG(opened.st_mode) && opened.st_uid == ::geteuid() &&
         static_cast<uint64_t>(opened.st_size) == size_bytes;
}

// While it is locked nobody else begins to use it.
void remove_without_owner(const std::string& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() >= 0 && try_lock(file.get()) && leads_to(path, file.get())) ::unlink(path.c_str());
}

void remove_unused(const std::string& folder) {
  for (const std::string& name : names_in(folder))
    if (name.starts_with(shared_prefix())) remove_without_owner(fmt::format("{}/{}", folder, name));
}

// The file, locked; -1 when there is none that can be used.
int open_shared(const std::string& path, size_t size_bytes) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0 || !is_ours(file.get(), size_bytes)) return -1;
  return try_shared_lock(file.get()) && leads_to(path, file.get()) ? file.release() : -1;
}

// A new file of these pages, locked before it has its name. -1 with errno, EEXIST when another process was faster.
int publish(const std::string& folder, const std::string& path, std::span<const std::span<std::byte>> pages,
            size_t size_bytes) {
  rlimit most{};
  if (::getrlimit(RLIMIT_FSIZE, &most) != 0 || size_bytes > most.rlim_cur) {  // writing would end the process
    errno = EFBIG;
    return -1;
  }
  Descriptor file(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, S_IRUSR));
  if (file.get() < 0) return -1;
  if (const int error = ::posix_fallocate(file.get(), 0, static_cast<off_t>(size_bytes)); error != 0) {
    errno = error;
    return -1;
  }
  try {
    for (const std::span<std::byte> block : pages) write_all(file.get(), path, block);
  } catch (const Error&) {
    errno = EIO;
    return -1;
  }
  if (!try_shared_lock(file.get())) return -1;
  const std::string opened = fmt::format("/proc/self/fd/{}", file.get());
  if (::linkat(AT_FDCWD, opened.c_str(), AT_FDCWD, path.c_str(), AT_SYMLINK_FOLLOW) != 0) return -1;
  return open_shared(path, size_bytes);  // by its name, which /proc/PID/maps then shows
}

int open_or_publish(const std::string& folder, const std::string& path, std::span<const std::span<std::byte>> pages,
                    size_t size_bytes) {
  for (int attempt = 0; attempt < kPublishAttempts; ++attempt) {
    if (const int fd = open_shared(path, size_bytes); fd >= 0) return fd;
    if (const int fd = publish(folder, path, pages, size_bytes); fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

bool is_equal(int fd, std::span<const std::span<std::byte>> pages, size_t size_bytes) {
  void* file = ::mmap(nullptr, size_bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (file == MAP_FAILED) return false;
  const auto* at = static_cast<const std::byte*>(file);
  bool result = true;
  for (const std::span<std::byte> block : pages) {
    result = result && std::memcmp(at, block.data(), block.size()) == 0;
    at += block.size();
  }
  ::munmap(file, size_bytes);
  return result;
}

}  // namespace

SharedPages::SharedPages(std::span<const std::span<std::byte>> blocks, const std::vector<std::string>& folders) {
  std::vector<std::span<std::byte>> pages;
  size_t size_bytes = 0;
  for (const std::span<std::byte> block : blocks) {
    pages.push_back(whole_pages(block));
    size_bytes += pages.back().size();
  }
  std::erase_if(pages, [](const std::span<std::byte> some) { return some.empty(); });
  if (pages.empty()) return;
  const std::string name = shared_name(pages);
  for (const std::string& folder : folders) {
    remove_unused(folder);
    path_ = fmt::format("{}/{}", folder, name);
    fd_ = open_or_publish(folder, path_, pages, size_bytes);
    if (fd_ >= 0) break;
  }
  if (fd_ < 0) return;
  const bool is_same = is_equal(fd_, pages, size_bytes);
  if (is_same) pages_ = std::move(pages), size_bytes_ = size_bytes;
  if (is_same && map()) return;
  release();
  if (is_same) throw Error(ErrorCode::kOutOfMemory, "weights", fmt::format("cannot map {} bytes", size_bytes));
}

bool SharedPages::map() const {
  off_t offset = 0;
  for (const std::span<std::byte> block : pages_) {
    if (::mmap(block.data(), block.size(), PROT_READ, MAP_SHARED | MAP_FIXED, fd_, offset) == MAP_FAILED) return false;
    offset += static_cast<off_t>(block.size());
  }
  return true;
}

void SharedPages::release() noexcept {
  for (const std::span<std::byte> block : pages_)
    ::mmap(block.data(), block.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  pages_.clear();
  size_bytes_ = 0;
  if (fd_ < 0) return;
  ::close(std::exchange(fd_, -1));
  remove_without_owner(path_);
}

SharedPages::~SharedPages() {
  release();
}

SharedPages::SharedPages(SharedPages&& other) noexcept
    : pages_(std::exchange(other.pages_, {})),
      path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

SharedPages& SharedPages::operator=(SharedPages&& other) noexcept {
  if (this == &other) return *this;
  release();
  pages_ = std::exchange(other.pages_, {});
  path_ = std::move(other.path_);
  fd_ = std::exchange(other.fd_, -1);
  size_bytes_ = std::exchange(other.size_bytes_, 0);
  return *this;
}

std::vector<std::string> SharedPages::usual_folders() {
  const char* temporary = std::getenv("TMPDIR");
  return {"/dev/shm", temporary != nullptr && *temporary != '\0' ? temporary : "/tmp"};
}

}  // namespace deberta
