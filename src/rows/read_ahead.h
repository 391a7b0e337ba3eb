// Reads and encodes rows on the calling thread while another one answers those before them.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "rows/row.h"
#include "rows/row_queue.h"

namespace deberta {

// The sequences of a row; what it throws becomes the row's error. None: rows count by bytes.
using EncodeRow = std::function<std::vector<Encoding>(const Row& row)>;

// Opens a source whose rows end once `is_stopped` returns true.
using OpenRows = std::function<std::unique_ptr<RowSource>(const std::function<bool()>& is_stopped)>;

struct ReadAheadRules {
  EncodeRow encode = {};
  size_t batch_tokens = 16000;                              // per group, with `encode`
  std::function<bool()> is_stopped = [] { return false; };  // asked between rows, and while input is waited for
};

class ReadAhead {
 public:
  // Throws what `open` throws.
  ReadAhead(const OpenRows& open, ReadAheadRules rules);

  // Calls take(group) on another thread with all rows in order, or with those until it is stopped, and returns when it
  // is done. Throws what `take` throws, else what reading throws; the rows before are then taken first.
  void run(const std::function<void(RowGroup& group)>& take);

 private:
  void read();

  ReadAheadRules rules_;
  RowQueue queue_;
  std::atomic<bool> has_failed_ = false;
  std::unique_ptr<RowSource> source_;
};

}  // namespace deberta
