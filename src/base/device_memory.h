// Memory of a device other than the host, such as a card. Operations of the device read and write it; the host reaches
// what lies there by copies alone, and does nothing but arithmetic with pointers into it.
#pragma once
#include <cstddef>

namespace deberta {

class DeviceMemory {
 public:
  DeviceMemory() = default;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  virtual ~DeviceMemory() = default;

  // 64-byte aligned, any contents. Throws kOutOfMemory.
  virtual std::byte* allocate(size_t size_bytes) = 0;
  virtual void release(std::byte* block, size_t size_bytes) noexcept = 0;

  // In the order of the operations that were begun before: a copy to the host waits for what writes it.
  virtual void copy_in(void* to, const void* host, size_t size_bytes) = 0;
  virtual void copy_out(void* host, const void* from, size_t size_bytes) = 0;

  // Whether it is a pointer into this memory.
  virtual bool holds(const void* pointer) const = 0;

  // Around each operation of the device, from any thread.
  virtual void begin_operation() {}
  virtual void end_operation() noexcept {}
};

}  // namespace deberta
