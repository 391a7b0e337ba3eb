// A job is as far as its bytes: those of files that are done, and the part of the one that is read.
#include "program/row_progress.h"

#include <algorithm>

namespace deberta::program {

void RowCounts::add(const RowCounts& other) {
  ok += other.ok;
  failed += other.failed;
  cut += other.cut;
  tokens += other.tokens;
  repaired += other.repaired;
}

void RowProgress::update(const RowCounts& counts, std::optional<double> fraction) {
  fraction_of_file_ = fraction;
  RowCounts all = before_;
  all.add(counts);
  const auto part = static_cast<uint64_t>(fraction.value_or(0) * static_cast<double>(file_bytes_));
  printer_.update(all.rows(), all.tokens, is_of_job_ ? fraction_of_job(done_bytes_ + part) : fraction);
}

void RowProgress::begin_job(uint64_t bytes, uint64_t done) {
  is_of_job_ = true;
  job_bytes_ = bytes;
  printer_.begin(0, 0, fraction_of_job(done));
}

void RowProgress::begin_file(uint64_t bytes, uint64_t done, const RowCounts& before) {
  file_bytes_ = bytes;
  done_bytes_ = done;
  before_ = before;
  fraction_of_file_.reset();
}

std::optional<double> RowProgress::fraction_of_job(uint64_t done) const {
  if (job_bytes_ == 0) return std::nullopt;
  return static_cast<double>(std::min(done, job_bytes_)) / static_cast<double>(job_bytes_);
}

}  // namespace deberta::program
