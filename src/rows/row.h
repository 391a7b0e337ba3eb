// A row of input: a text, a pair, or a text with items; and a stream of them.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "deberta/tokenizer.h"

namespace deberta {

struct Row {
  std::string where;  // "argument 1", "in.tsv:12"
  std::string text;   // valid UTF-8
  std::optional<std::string> pair;
  std::vector<std::string> items;                       // documents of a query, choices, words of a CoNLL sentence
  std::vector<Offset> entities;                         // places in the text that may be the answer, in bytes
  std::optional<std::vector<EntityLabel>> labels = {};  // of entities to find, where the row has its own
  JsonObject kept;                                      // other columns or keys (KeptFields)
  std::vector<JsonObject> items_kept;  // those of each item, where items are objects or rows; else empty
  // All columns of the row's table, where they are kept (KeptFields::has_texts), also of a row with an error.
  std::shared_ptr<const std::vector<std::string>> columns;
  size_t number = 0;                // from 1, bad rows too
  bool is_repaired = false;         // held bytes that are not UTF-8
  std::optional<Error> error;       // the row could not be read or encoded
  std::vector<Encoding> encodings;  // made while other rows are computed (read_ahead.h)
};

// What becomes of a row that cannot be read or answered.
enum class BadRows {
  kFail,    // the error is thrown, and ends the run
  kReport,  // it is counted, and its error is reported in its place
  kSkip,    // it is counted
};

class RowSource {
 public:
  virtual ~RowSource() = default;
  virtual bool next(Row& row) = 0;                // false at the end
  virtual bool is_ready() const { return true; }  // next() would not wait
  virtual std::optional<double> fraction_done() const { return std::nullopt; }
};

}  // namespace deberta
