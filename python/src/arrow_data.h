// The structs of the Arrow C data and stream interfaces, as their specification gives them
// (https://arrow.apache.org/docs/format/CDataInterface.html), and owners of them.
#pragma once
#include <cstdint>
#include <utility>

extern "C" {
struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};
}

namespace deberta::python {

// Releases what it holds at its end. A released struct has no `release`.
template <class Struct>
class ArrowOwner {
 public:
  ArrowOwner() = default;
  explicit ArrowOwner(Struct* moved) : held_(std::exchange(*moved, Struct{})) {}
  ArrowOwner(ArrowOwner&& other) noexcept : held_(std::exchange(other.held_, Struct{})) {}
  ArrowOwner& operator=(ArrowOwner&& other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~ArrowOwner() {
    if (held_.release != nullptr) held_.release(&held_);
  }
  Struct* get() { return &held_; }
  Struct* operator->() { return &held_; }

 private:
  Struct held_ = {};
};

}  // namespace deberta::python
