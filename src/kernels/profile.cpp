// A list of entries behind a lock: a model has about ten.
#include "kernels/profile.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

namespace deberta {
namespace {

std::atomic<bool> is_on{false};
std::mutex mutex;
std::vector<ProfileEntry> entries;  // guarded by mutex

}  // namespace

void start_profile() {
  const std::lock_guard lock(mutex);
  entries.clear();
  is_on.store(true, std::memory_order_relaxed);
}

std::vector<ProfileEntry> stop_profile() {
  const std::lock_guard lock(mutex);
  is_on.store(false, std::memory_order_relaxed);
  return std::exchange(entries, {});
}

ProfileTimer::ProfileTimer(const ProfileKey& key, const ProfileWork& work) : key_(key), work_(work) {
  if (!is_on.load(std::memory_order_relaxed)) work_.workers = 0;
  if (work_.workers > 0) begin_ = std::chrono::steady_clock::now();
}

ProfileTimer::~ProfileTimer() {
  if (work_.workers == 0) return;
  const std::chrono::duration<double> duration = std::chrono::steady_clock::now() - begin_;
  const std::lock_guard lock(mutex);
  auto entry = std::find_if(entries.begin(), entries.end(), [&](const ProfileEntry& e) { return e.key == key_; });
  if (entry == entries.end()) entry = entries.insert(entry, ProfileEntry{.key = key_});
  ++entry->calls;
  entry->rows += work_.rows;
  entry->thread_seconds += duration.count() * static_cast<double>(work_.workers);
}

}  // namespace deberta
