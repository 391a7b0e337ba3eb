// Replaces the standard library's operators, in programs that call allocations() and so link this object.
#include "support/allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<size_t> count = 0;

void* allocate(size_t size_bytes, size_t alignment) noexcept {
  ++count;
  const size_t rounded = (size_bytes + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
}

void* require(void* block) {
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

}  // namespace

void* operator new(size_t size_bytes) {
  return require(allocate(size_bytes, alignof(std::max_align_t)));
}
void* operator new(size_t size_bytes, std::align_val_t alignment) {
  return require(allocate(size_bytes, static_cast<size_t>(alignment)));
}
void* operator new(size_t size_bytes, const std::nothrow_t&) noexcept {
  return allocate(size_bytes, alignof(std::max_align_t));
}
void* operator new(size_t size_bytes, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size_bytes, static_cast<size_t>(alignment));
}
void operator delete(void* block) noexcept {
  std::free(block);
}
void operator delete(void* block, size_t) noexcept {
  std::free(block);
}
void operator delete(void* block, std::align_val_t) noexcept {
  std::free(block);
}
void operator delete(void* block, size_t, std::align_val_t) noexcept {
  std::free(block);
}

size_t deberta::test::allocations() {
  return count;
}
