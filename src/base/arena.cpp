// Bump allocation over one aligned block.
#include "base/arena.h"

#include <fmt/core.h>

#include <new>

#include "deberta/error.h"

namespace deberta {

void Arena::Free::operator()(std::byte* block) const {
  ::operator delete (block, std::align_val_t{kAlignment});
}

void Arena::reserve(size_t size_bytes) {
  used_ = 0;
  if (size_bytes <= capacity_) return;
  block_.reset();
  capacity_ = 0;
  void* block = ::operator new (size_bytes, std::align_val_t{kAlignment}, std::nothrow);
  if (block == nullptr)
    throw Error(ErrorCode::kOutOfMemory, "arena", fmt::format("cannot allocate {} bytes", size_bytes));
  block_.reset(static_cast<std::byte*>(block));
  capacity_ = size_bytes;
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
