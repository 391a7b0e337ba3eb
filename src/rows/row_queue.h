// Rows between the thread that reads them and the one that answers them: as many as fill some groups, so that memory
// does not grow with the input. A group is as full as the available rows allow, and no thread waits for one to fill
// up while reading would wait.
#pragma once
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "rows/row.h"

namespace deberta {

// Rows that are answered together, in the order of the input.
struct RowGroup {
  std::vector<Row> rows;
  std::optional<double> fraction_done;  // fraction of the input read, with the last row
};

class RowQueue {
 public:
  // The most that a group holds, unless its first row is larger.
  struct Limits {
    size_t rows = 512;
    size_t tokens = SIZE_MAX;
    size_t bytes = size_t{1} << 22;
  };
  static constexpr size_t kGroupsAhead = 4;

  explicit RowQueue(const Limits& limits) : limits_(limits) {}

  // ---- for the thread that reads

  // Waits while there is no room. False once the queue is closed.
  bool push(Row row, std::optional<double> fraction_done);
  // Before a wait for input: what is there becomes a group. Ends with the next push.
  void pause();
  void end();  // no more rows

  // ---- for the thread that answers

  // Waits for a full group, or for what there is when no more can be read now. Empty at the end.
  RowGroup take();
  void close();  // no more rows are taken

 private:
  struct Entry {
    Row row;
    std::optional<double> fraction_done;
  };
  // Sums over rows.
  struct Size {
    size_t rows = 0, tokens = 0, bytes = 0;
    void add(const Row& row);
    void remove(const Row& row);
  };
  bool is_group(const Size& size, size_t groups) const;

  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable has_group_, has_room_;
  std::deque<Entry> entries_;
  Size size_;
  bool is_paused_ = false;
  bool is_ended_ = false;
  bool is_closed_ = false;
};

}  // namespace deberta
