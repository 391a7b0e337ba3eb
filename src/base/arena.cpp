// Bump allocation over one aligned block.
#include "base/arena.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <new>

#include "deberta/error.h"

namespace deberta {

namespace {

constexpr size_t kPage = 4096;
// Large blocks ask for huge pages: fewer page faults while they are filled, fewer TLB misses when they are read.
constexpr size_t kLargePage = 2 << 20;

size_t alignment_of(size_t size_bytes) {
  if (size_bytes >= 2 * kLargePage) return kLargePage;
  return size_bytes >= Arena::kPaged ? kPage : Arena::kAlignment;
}

// Hints, whose failure is harmless. What was used before lies on small pages, which stay so until they are given back.
void use_large_pages(void* block, size_t size_bytes) {
  ::madvise(block, size_bytes / kPage * kPage, MADV_DONTNEED);
  ::madvise(block, size_bytes, MADV_HUGEPAGE);
}

std::byte* allocate_host(size_t size_bytes, size_t alignment) {
  void* block = ::operator new (size_bytes, std::align_val_t{alignment}, std::nothrow);
  if (block == nullptr)
    throw Error(ErrorCode::kOutOfMemory, "arena", fmt::format("cannot allocate {} bytes", size_bytes));
  if (alignment == kLargePage) use_large_pages(block, size_bytes);
  return static_cast<std::byte*>(block);
}

}  // namespace

void ArenaFree::operator()(std::byte* block) const {
  if (memory != nullptr) return memory->release(block, size_bytes);
  ::operator delete (block, std::align_val_t{alignment});
}

void Arena::reserve(size_t size_bytes) {
  used_ = 0;
  if (size_bytes <= capacity_) return;
  block_.reset();
  capacity_ = 0;
  const size_t alignment = alignment_of(size_bytes);
  std::byte* block = memory_ != nullptr ? memory_->allocate(size_bytes) : allocate_host(size_bytes, alignment);
  block_ = {block, ArenaFree{size_bytes, alignment, memory_}};
  capacity_ = size_bytes;
}

std::span<std::byte> Arena::paged_block() const {
  if (memory_ != nullptr || capacity_ < kPaged) return {};
  return {block_.get(), capacity_};
}

void* Arena::take_bytes(size_t size_bytes) {
  const size_t rounded = bytes_for<std::byte>(size_bytes);
  if (rounded < size_bytes || rounded > capacity_ - used_) {
    throw Error(ErrorCode::kInternal, "arena",
                fmt::format("expected at most {} bytes, got {}", capacity_ - used_, size_bytes));
  }
  void* result = block_.get() + used_;
  used_ += rounded;
  return result;
}

}  // namespace deberta
