// A fixed array of slots, each claimed by one compare-and-exchange: a signal handler may read it at any moment.
#include "base/mapping_table.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>

namespace deberta {
namespace {

// `path` is set first and cleared last, `end` the other way round: a slot that a reader sees with an end is complete.
struct Slot {
  std::atomic<bool> is_taken = false;
  std::atomic<uintptr_t> begin = 0;
  std::atomic<uintptr_t> end = 0;
  std::atomic<const char*> path = nullptr;
};

constinit std::array<Slot, 4096> slots;

const char* copy_text(const std::string& text) {
  auto copy = std::make_unique<char[]>(text.size() + 1);
  std::memcpy(copy.get(), text.c_str(), text.size() + 1);
  return copy.release();
}

}  // namespace

MappingEntry::MappingEntry(const void* begin, size_t size_bytes, const std::string& path) {
  for (size_t i = 0; i < slots.size(); ++i) {
    if (slots[i].is_taken.exchange(true)) continue;
    slot_ = i;
    slots[i].path = copy_text(path);
    slots[i].begin = reinterpret_cast<uintptr_t>(begin);
    slots[i].end = reinterpret_cast<uintptr_t>(begin) + size_bytes;
    return;
  }
}

MappingEntry::~MappingEntry() {
  if (slot_ == kNone) return;
  Slot& slot = slots[slot_];
  slot.end = 0;
  delete[] slot.path.exchange(nullptr);
  slot.is_taken = false;
}

MappingEntry& MappingEntry::operator=(MappingEntry&& other) noexcept {
  std::swap(slot_, other.slot_);
  return *this;
}

const char* mapped_path_at(const void* address) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(address);
  for (const Slot& slot : slots) {
    if (at < slot.end.load() && at >= slot.begin.load()) return slot.path;
  }
  return nullptr;
}

}  // namespace deberta
