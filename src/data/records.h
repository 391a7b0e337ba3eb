// Rows with named fields, whatever the file format: TSV, CSV, JSON Lines, a JSON document that is an array of
// rows, or lines of text.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "data/json_rows.h"
#include "data/lines.h"
#include "data/row_form.h"
#include "data/table.h"
#include "deberta/error.h"

namespace deberta {

// Names of a field, of which the first that is there counts.
struct FieldNames {
  std::vector<std::string> names;
  std::string argument = {};  // argument that named it; empty: the format does

  std::string_view first() const { return names.empty() ? std::string_view() : std::string_view(names.front()); }
  std::string text() const;              // "a or b"
  std::vector<Remedy> remedies() const;  // where it is missing
};

// What a table must have. JSON needs no such rules: each row says what its fields are.
struct RecordColumns {
  // At least one name of each list stands in the header line.
  std::vector<FieldNames> needed;
  // The columns of a file whose first line is not a header: that line has none of the needed names, and as many cells.
  std::vector<std::string> without_header;
};

class RecordReader {
 public:
  // kText: a line that is not blank is a row with `text`. kJson and kJsonl are the same: an array in the first line
  // begins a document. Throws kInternal for kConll, whose sentences are not records.
  RecordReader(LineReader lines, RowForm form, RecordColumns columns);

  // False at the end. `row.value` is an object; of a table, its values are texts. Throws kInput for a table without the
  // needed columns, kJson and kTooLarge for an array of rows that cannot be read, and what LineReader::next throws.
  bool next(JsonRow& row);

  const LineReader& lines() const { return table_ ? table_->lines() : lines_; }

 private:
  bool next_of_table(JsonRow& row);
  bool next_of_lines(JsonRow& row);
  bool next_of_text(JsonRow& row);
  bool next_of_document(JsonRow& row);
  void read_document(std::string text, const std::string& where);
  bool take_header(TableRow first);

  RowForm form_;
  RecordColumns columns_;
  LineReader lines_;
  std::optional<TableReader> table_;
  bool has_names_ = false;             // the table's columns have names
  std::optional<JsonArray> document_;  // the rest is read
  size_t next_ = 0;                    // index of the document's next row
};

}  // namespace deberta
