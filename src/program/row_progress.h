// Progress of the loop over rows, of one input or of all files of a job.
#pragma once
#include <cstdint>
#include <optional>

#include "program/progress_printer.h"

namespace deberta::program {

// Rows that were answered, by what became of them.
struct RowCounts {
  size_t ok = 0;
  size_t failed = 0;
  size_t cut = 0;
  size_t tokens = 0;
  size_t repaired = 0;

  size_t rows() const { return ok + failed; }
  void add(const RowCounts& other);
};

class RowProgress {
 public:
  RowProgress(ShowProgress show, bool is_long) : printer_(show, is_long) {}

  void clear() { printer_.clear(); }
  // `fraction`: of the input that is read now.
  void update(const RowCounts& counts, std::optional<double> fraction);

  // Of `bytes` in all files, `done` need no work. What is shown is then of all of them.
  void begin_job(uint64_t bytes, uint64_t done);
  // The next input has `bytes`; `before` are the counts of those that were read, and `done` bytes need no more work.
  void begin_file(uint64_t bytes, uint64_t done, const RowCounts& before);
  std::optional<double> fraction_of_file() const { return fraction_of_file_; }

 private:
  std::optional<double> fraction_of_job(uint64_t done) const;

  ProgressPrinter printer_;
  bool is_of_job_ = false;
  uint64_t job_bytes_ = 0, done_bytes_ = 0, file_bytes_ = 0;
  std::optional<double> fraction_of_file_;
  RowCounts before_;
};

}  // namespace deberta::program
