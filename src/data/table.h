// Rows of cells: TSV, and CSV with the quotes of RFC 4180, as spreadsheets write them. Empty lines are no rows.
#pragma once
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "data/lines.h"

namespace deberta {

constexpr char kFindSeparator = '\0';

struct TableRules {
  // kFindSeparator: that of a first line "sep=;", which is no row; else a comma, unless the first row has none outside
  // of quotes and has a semicolon or, where it has neither, a tab.
  char separator = '\t';
  // A cell that begins with a quote ends at the next one; in between are separators, doubled quotes (one quote) and
  // line ends, as they are. A quote within another cell is a character. Without: a quote is a character like any other,
  // and cells are those of tsv_cell() (data/cells.h), unless every cell of the first row is quoted. A row whose last
  // cell opens a quote takes in the lines up to the one that closes it, if those are no rows of their own and the whole
  // has a cell for each column: writers that quote only where they must leave line ends so.
  bool has_quotes = false;
  bool has_header = true;  // the first row names the columns
};

struct TableRow {
  std::string where;               // "name:number" of its first line
  std::vector<std::string> cells;  // as many as there are columns
  std::optional<Error> error;      // then there are no cells: kInput, kTooLarge
};

class TableReader {
 public:
  TableReader(LineReader lines, const TableRules& rules) : lines_(std::move(lines)), rules_(rules) {}

  static constexpr size_t kMaxColumns = 4096;
  static constexpr size_t kMaxRowBytes = LineReader::kMaxLineBytes;  // also of a row of several lines

  // False at the end. After a row with an error the reader goes on at the next line. Throws kInput for a header that
  // cannot be read or repeats a column name, and what LineReader::next throws.
  bool next(TableRow& row);

  // Reads the header, where the rules say that there is one. Throws what next() throws.
  void begin();

  // Names the columns of a table without a header, instead of "1", "2", ... Columns without a name are called by their
  // numbers. Throws kInput, naming the place of the row, for two with the same name.
  void name_columns(TableRow names);

  // The names in the header, else "1", "2", ...; none before the first row.
  const std::vector<std::string>& columns() const { return columns_; }
  // The cells of a row of next() by their columns, as texts, without empty cells of columns that have no name.
  JsonObject by_column(TableRow row) const;
  const LineReader& lines() const { return lines_; }
  // Whether a cell so far begins and ends with a quote that is a character.
  bool looks_quoted() const { return looks_quoted_; }

 private:
  struct PhysicalLine {
    TextLine text;
    std::string end;  // "\n", "\r\n" or "\r"
  };
  static constexpr size_t kMaxLinesOfRow = 10000;  // read ahead at most

  bool read_physical(PhysicalLine& line);
  bool read_line(PhysicalLine& line);
  bool joins_lines(const PhysicalLine& first, TableRow& row);
  bool read(TableRow& row);
  void read_header();
  void look_at(const std::string& first);
  void split(const std::string& text, TableRow& row);
  void split_quoted(std::string text, TableRow& row);

  LineReader lines_;
  TableRules rules_;
  std::deque<PhysicalLine> ahead_;  // lines that were read and put back
  std::vector<std::string> columns_;
  std::vector<bool> are_named_;  // for each column: it has a name
  bool is_begun_ = false, has_looked_ = false, looks_quoted_ = false;
};

}  // namespace deberta
