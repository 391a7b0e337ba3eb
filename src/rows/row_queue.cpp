// A bounded queue under one mutex; limits count rows, bytes and tokens, and a pause lets out what is there.
#include "rows/row_queue.h"

#include <utility>

namespace deberta {
namespace {

size_t bytes_of(const Row& row) {
  size_t bytes = row.text.size() + (row.pair ? row.pair->size() : 0);
  for (const std::string& item : row.items) bytes += item.size();
  return bytes;
}
size_t tokens_of(const Row& row) {
  size_t tokens = 0;
  for (const Encoding& encoding : row.encodings) tokens += encoding.size();
  return tokens;
}

}  // namespace

void RowQueue::Size::add(const Row& row) {
  rows += 1;
  tokens += tokens_of(row);
  bytes += bytes_of(row);
}

void RowQueue::Size::remove(const Row& row) {
  rows -= 1;
  tokens -= tokens_of(row);
  bytes -= bytes_of(row);
}

// Whether `size` fills that many groups by one of the three measures.
bool RowQueue::is_group(const Size& size, size_t groups) const {
  return size.rows / groups >= limits_.rows || size.tokens / groups >= limits_.tokens ||
         size.bytes / groups >= limits_.bytes;
}

bool RowQueue::push(Row row, std::optional<double> fraction_done) {
  std::unique_lock lock(mutex_);
  has_room_.wait(lock, [&] { return is_closed_ || !is_group(size_, kGroupsAhead); });
  if (is_closed_) return false;
  is_paused_ = false;
  size_.add(row);
  entries_.push_back({std::move(row), fraction_done});
  if (is_group(size_, 1)) has_group_.notify_one();
  return true;
}

void RowQueue::pause() {
  const std::lock_guard lock(mutex_);
  is_paused_ = true;
  has_group_.notify_one();
}

void RowQueue::end() {
  const std::lock_guard lock(mutex_);
  is_ended_ = true;
  has_group_.notify_one();
}

void RowQueue::close() {
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  has_room_.notify_one();
}

RowGroup RowQueue::take() {
  std::unique_lock lock(mutex_);
  has_group_.wait(lock, [&] { return is_ended_ || is_group(size_, 1) || (is_paused_ && !entries_.empty()); });
  RowGroup group;
  Size size;
  while (!entries_.empty()) {
    Entry& next = entries_.front();
    size.add(next.row);
    const bool fits = size.rows <= limits_.rows && size.tokens <= limits_.tokens && size.bytes <= limits_.bytes;
    if (!fits && !group.rows.empty()) break;
    size_.remove(next.row);
    group.fraction_done = next.fraction_done;
    group.rows.push_back(std::move(next.row));
    entries_.pop_front();
  }
  has_room_.notify_one();
  return group;
}

}  // namespace deberta
