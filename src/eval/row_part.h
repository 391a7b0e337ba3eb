// A part of labelled files: the rows that a training run holds out to be evaluated on, or the others.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>

namespace deberta {

struct RowPart {
  double share = 0.1;  // share of the rows held out, above 0 and at most .5
  uint64_t seed = 0;
  size_t most_rows = 0;  // only the files' first rows, for both parts together; 0: all
  bool is_held_out = false;
  // Instead of a share: number `fold`, from 0, of so many folds, which together are all rows.
  size_t folds = 0, fold = 0;
};

// What decides which rows stay together.
struct RowKey {
  std::optional<uint64_t> neighbours = {};  // what it shares with rows beside it and no others
  std::optional<std::string> group = {};    // what it shares with rows anywhere in the files: they stay together
  std::string stratum = {};                 // folds: each gets the same number of rows of a stratum, or one more
};

// Counts the rows of files from the first one on. In each run of 1 / share rows one is held out, drawn from the seed;
// each fold has one of every stretch of a stratum. Rows that belong together count once.
class PartPicker {
 public:
  explicit PartPicker(const std::optional<RowPart>& part) : part_(part) {}  // none: every row

  // Whether the next row is in the part.
  bool takes(const RowKey& row = {});
  // Whether no row after those counted is.
  bool is_done() const { return part_ && part_->most_rows > 0 && rows_ >= part_->most_rows; }
  size_t left_out() const { return left_out_; }

 private:
  struct Stratum {
    uint32_t number = 0;  // as they are met
    uint64_t units = 0;
  };
  bool draw(const RowKey& row);
  bool is_held_out(uint64_t unit) const;
  size_t fold_of(const Stratum& stratum) const;

  std::optional<RowPart> part_;
  size_t rows_ = 0, left_out_ = 0;
  uint64_t units_ = 0;  // rows, those that belong together once
  std::optional<uint64_t> neighbours_ = std::nullopt;
  bool holds_out_ = false;  // the unit of the last row
  std::unordered_map<std::string, bool> groups_;
  std::map<std::string, Stratum> strata_;
};

}  // namespace deberta
