// The files mapped by this process, by address, for a SIGBUS handler when a file is truncated while in use. The
// library installs no handler; programs do (program/interrupt.cpp).
#pragma once
#include <cstddef>
#include <string>

namespace deberta {

// Registered as long as the object lives. With thousands of mapped files, the last ones are not registered.
class MappingEntry {
 public:
  MappingEntry() = default;
  MappingEntry(const void* begin, size_t size_bytes, const std::string& path);
  ~MappingEntry();
  MappingEntry(MappingEntry&& other) noexcept : slot_(other.slot_) { other.slot_ = kNone; }
  MappingEntry& operator=(MappingEntry&& other) noexcept;

 private:
  static constexpr size_t kNone = ~size_t{0};
  size_t slot_ = kNone;
};

// The path of the file mapped there, null when none is. Async-signal-safe.
const char* mapped_path_at(const void* address) noexcept;

}  // namespace deberta
