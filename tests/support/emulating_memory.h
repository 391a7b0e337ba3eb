// A device for tests: memory that the host can neither read nor write while no operation runs, and the host's kernels
// behind the operations. Whatever the engine itself does to operands ends the program with SIGSEGV, and an operand that
// lies in the host's memory is refused by the operation.
#pragma once
#include <atomic>
#include <mutex>

#include "base/device_memory.h"

namespace deberta::test {

class EmulatingMemory : public DeviceMemory {
 public:
  EmulatingMemory();
  ~EmulatingMemory() override;

  std::byte* allocate(size_t size_bytes) override;
  void release(std::byte* block, size_t size_bytes) noexcept override;
  void copy_in(void* to, const void* host, size_t size_bytes) override;
  void copy_out(void* host, const void* from, size_t size_bytes) override;
  bool holds(const void* pointer) const override;
  void begin_operation() override;
  void end_operation() noexcept override;

  size_t operations() const { return operations_; }  // begun so far

 private:
  void protect(int access) noexcept;

  std::byte* begin_ = nullptr;  // one range for all blocks; none is used again
  size_t used_ = 0;
  size_t running_ = 0;
  std::atomic<size_t> operations_ = 0;
  mutable std::mutex mutex_;
};

}  // namespace deberta::test
