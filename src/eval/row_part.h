// A part of labelled files: the rows that a training run holds out to be evaluated on, or the others.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>

namespace deberta {

struct RowPart {
  double share = 0.1;  // of the rows that are held out, above 0 and at most .5
  uint64_t seed = 0;
  size_t most_rows = 0;  // of both parts together, the first of the files; 0: all
  bool is_held_out = false;
};

// Counts the rows of files from the first one on. Of each 1 / share that follow each other one is held out, drawn from
// the seed; rows of one group, which follow each other, stay together.
class PartPicker {
 public:
  explicit PartPicker(const std::optional<RowPart>& part) : part_(part) {}  // none: every row

  // Whether the next row is in the part. `group`: what the row shares with its neighbours and no others; none: nothing.
  bool takes(std::optional<uint64_t> group = std::nullopt);
  // Whether no row after those counted is.
  bool is_done() const { return part_ && part_->most_rows > 0 && rows_ >= part_->most_rows; }
  size_t left_out() const { return left_out_; }

 private:
  bool is_held_out(uint64_t unit) const;

  std::optional<RowPart> part_;
  size_t rows_ = 0, left_out_ = 0;
  uint64_t units_ = 0;  // groups, and rows without one
  std::optional<uint64_t> group_ = std::nullopt;
  bool holds_out_ = false;  // the unit of the last row
};

}  // namespace deberta
