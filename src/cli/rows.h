// Rows of input: texts or pairs from arguments, text, TSV, CSV, JSON Lines and JSON, with what else the row holds.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "deberta/error.h"
#include "deberta/tokenizer.h"
#include "options/options.h"

namespace deberta::cli {

struct Row {
  std::string where;  // "argument 1", "in.tsv:12"
  std::string text;   // valid UTF-8
  std::optional<std::string> pair;
  std::vector<std::string> items;   // documents of a query, choices, words of a CoNLL sentence
  JsonObject kept;                  // other columns or keys, as --keep asks
  size_t number = 0;                // from 1, bad rows too
  bool is_repaired = false;         // held bytes that are not UTF-8
  std::optional<Error> error;       // the row could not be read, or not be encoded
  std::vector<Encoding> encodings;  // made while other rows are computed (filter.h)
};

class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual bool next(Row& row) = 0;                // false at the end
  virtual bool is_ready() const { return true; }  // next() would not wait
  virtual std::optional<double> fraction_done() const { return std::nullopt; }
};

// From the arguments, else the files of --input (or --calibrate) one after the other, else standard input. Rows end
// once `is_stopped` says true, also while next() waits for input. Throws kUsage, kFileNotFound, kJson, and kInput for a
// file that lacks a column.
std::unique_ptr<RowSource> open_rows(const Options& options, const std::function<bool()>& is_stopped);

}  // namespace deberta::cli
