// One reserved range of addresses, whose protection changes as a whole.
#include "support/emulating_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>

#include "deberta/error.h"

namespace deberta::test {
namespace {

constexpr size_t kRange = size_t{64} << 30;  // addresses, not memory
constexpr size_t kPage = 4096;

size_t whole_pages(size_t size_bytes) {
  return (size_bytes + kPage - 1) / kPage * kPage;
}

}  // namespace

EmulatingMemory::EmulatingMemory() {
  void* range = ::mmap(nullptr, kRange, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) throw Error(ErrorCode::kOutOfMemory, "device", "no addresses");
  begin_ = static_cast<std::byte*>(range);
}

EmulatingMemory::~EmulatingMemory() {
  ::munmap(begin_, kRange);
}

std::byte* EmulatingMemory::allocate(size_t size_bytes) {
  const std::lock_guard lock(mutex_);
  const size_t size = whole_pages(size_bytes) + kPage;  // a page that nothing has lies between blocks
  if (size > kRange - used_) throw Error(ErrorCode::kOutOfMemory, "device", "the range is full");
  std::byte* block = begin_ + used_;
  used_ += size;
  if (running_ > 0) protect(PROT_READ | PROT_WRITE);
  return block;
}

void EmulatingMemory::release(std::byte* block, size_t size_bytes) noexcept {
  ::madvise(block, whole_pages(size_bytes), MADV_DONTNEED);
}

void EmulatingMemory::copy_in(void* to, const void* host, size_t size_bytes) {
  begin_operation();
  std::memcpy(to, host, size_bytes);
  end_operation();
}

void EmulatingMemory::copy_out(void* host, const void* from, size_t size_bytes) {
  begin_operation();
  std::memcpy(host, from, size_bytes);
  end_operation();
}

bool EmulatingMemory::holds(const void* pointer) const {
  const auto* at = static_cast<const std::byte*>(pointer);
  const std::lock_guard lock(mutex_);
  return at >= begin_ && at <= begin_ + used_;
}

void EmulatingMemory::begin_operation() {
  ++operations_;
  const std::lock_guard lock(mutex_);
  if (running_++ == 0) protect(PROT_READ | PROT_WRITE);
}

void EmulatingMemory::end_operation() noexcept {
  const std::lock_guard lock(mutex_);
  if (--running_ == 0) protect(PROT_NONE);
}

void EmulatingMemory::protect(int access) noexcept {
  if (used_ > 0 && ::mprotect(begin_, used_, access) != 0) std::abort();
}

}  // namespace deberta::test
