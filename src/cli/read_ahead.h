// Reads and encodes rows on the calling thread while another one answers those before them.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "cli/row_queue.h"
#include "cli/rows.h"
#include "options/options.h"

namespace deberta::cli {

// The sequences of a row; what it throws becomes the row's error. None: the verb has no model, and rows count by bytes.
using EncodeRow = std::function<std::vector<Encoding>(const Row& row)>;

// Opens a source whose rows end once `is_stopped` says true.
using OpenRows = std::function<std::unique_ptr<RowSource>(const std::function<bool()>& is_stopped)>;

class ReadAhead {
 public:
  // Opens the input of the options. Throws as open_rows.
  ReadAhead(const Options& options, EncodeRow encode);
  // Rows of another source. Throws what `open` throws.
  ReadAhead(const Options& options, EncodeRow encode, const OpenRows& open);

  // Calls take(group) on another thread with all rows in order, or with those until Ctrl-C, and returns when it is
  // done. Throws what `take` throws, else what reading throws; the rows before are then taken first.
  void run(const std::function<void(RowGroup& group)>& take);

 private:
  void read();

  EncodeRow encode_;
  RowQueue queue_;
  std::atomic<bool> has_failed_ = false;
  std::unique_ptr<RowSource> source_;
};

}  // namespace deberta::cli
