// A bump allocator: one block, handed out front to back and reset as a whole. It never grows by itself.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "base/device_memory.h"

namespace deberta {

struct ArenaFree {
  size_t size_bytes = 0, alignment = 64;  // the block's
  std::shared_ptr<DeviceMemory> memory = nullptr;
  void operator()(std::byte* block) const;
};

class Arena {
 public:
  static constexpr size_t kAlignment = 64;    // bytes
  static constexpr size_t kPaged = 64 << 10;  // blocks of so many bytes begin on a page

  // Blocks of the host's memory, or of a device's.
  explicit Arena(std::shared_ptr<DeviceMemory> memory = nullptr) : memory_(std::move(memory)) {}

  // At least `size_bytes`; keeps a larger block. Earlier pointers become invalid. Throws kOutOfMemory.
  void reserve(size_t size_bytes);
  void reset() { used_ = 0; }

  // `count` elements, 64-byte aligned, uninitialised. Throws kInternal when the block is too small.
  template <class T>
  T* take(size_t count) {
    return static_cast<T*>(take_bytes(count * sizeof(T)));
  }

  size_t capacity_bytes() const { return capacity_; }
  // The whole block, of the host's memory and at least kPaged; else nothing.
  std::span<std::byte> paged_block() const;
  // The bytes that take() uses for `count` elements.
  template <class T>
  static size_t bytes_for(size_t count) {
    return (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
  }

 private:
  void* take_bytes(size_t size_bytes);

  std::shared_ptr<DeviceMemory> memory_;  // null: the host's
  std::unique_ptr<std::byte, ArenaFree> block_;
  size_t capacity_ = 0;
  size_t used_ = 0;
};

}  // namespace deberta
