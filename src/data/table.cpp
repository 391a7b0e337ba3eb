// One pass over the bytes of a row; quotes may need more lines.
#include "data/table.h"

#include <fmt/format.h>

#include <set>

#include "data/cells.h"

namespace deberta {
namespace {

[[noreturn]] void refuse(const TableRow& row, const std::string& message) {
  throw Error(ErrorCode::kInput, row.where, message);
}

void add_cell(TableRow& row) {
  if (row.cells.size() == TableReader::kMaxColumns)
    refuse(row, fmt::format("expected at most {} columns, got more", TableReader::kMaxColumns));
  row.cells.emplace_back();
}

}  // namespace

void TableReader::split(const std::string& text, TableRow& row) {
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(rules_.separator, begin), text.size());
    add_cell(row);
    row.cells.back() = text_of_tsv_cell(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

void TableReader::split_quoted(std::string text, TableRow& row) {
  enum class At { kStart, kPlain, kQuoted, kAfterQuote } state = At::kStart;
  size_t bytes = text.size(), line = lines_.number();
  const auto place = [&](size_t i) { return fmt::format("line {}, column {}", line, i + 1); };
  add_cell(row);
  for (size_t i = 0;; ++i) {
    if (i == text.size()) {
      if (state != At::kQuoted) return;
      const std::string_view line_end = lines_.line_end();
      TextLine more;
      if (!read_text_line(lines_, more)) refuse(row, "unterminated quoted cell");
      if (more.error) throw *more.error;
      bytes += more.text.size();
      if (bytes > kMaxRowBytes)
        throw Error(ErrorCode::kTooLarge, row.where,
                    fmt::format("unterminated quoted cell: expected a row of at most {} bytes", kMaxRowBytes));
      text = std::move(more.text);
      line = lines_.number();
      row.cells.back() += line_end;
      i = static_cast<size_t>(-1);
      continue;
    }
    const char c = text[i];
    if (state == At::kQuoted) {
      if (c != '"')
        row.cells.back() += c;
      else
        state = At::kAfterQuote;
    } else if (c == rules_.separator) {
      add_cell(row);
      state = At::kStart;
    } else if (c == '"') {
      if (state == At::kPlain) refuse(row, place(i) + ": a quote in an unquoted cell");
      if (state == At::kAfterQuote) row.cells.back() += '"';
      state = At::kQuoted;
    } else {
      if (state == At::kAfterQuote) refuse(row, place(i) + ": expected a separator after a quoted cell");
      row.cells.back() += c;
      state = At::kPlain;
    }
  }
}

bool TableReader::read(TableRow& row) {
  row = {};
  TextLine line;
  if (!read_text_line(lines_, line)) return false;
  row.where = line.where;
  row.error = line.error;
  if (row.error) return true;
  try {
    if (rules_.has_quotes)
      split_quoted(std::move(line.text), row);
    else
      split(line.text, row);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kFileRead) throw;  // of the stream, not of the row
    row.cells.clear();
    row.error = error;
  }
  return true;
}

void TableReader::read_header() {
  TableRow header;
  if (!read(header)) return;
  if (header.error) throw *header.error;
  name_columns(std::move(header));
}

void TableReader::name_columns(TableRow names) {
  std::set<std::string_view> known;
  for (const std::string& name : names.cells) {
    if (!known.insert(name).second) refuse(names, fmt::format("two columns are named \"{}\"", name));
  }
  columns_ = std::move(names.cells);
}

JsonObject TableReader::by_column(TableRow row) const {
  JsonObject object;
  for (size_t i = 0; i < row.cells.size(); ++i) object.emplace_back(columns_[i], std::move(row.cells[i]));
  return object;
}

void TableReader::begin() {
  if (std::exchange(is_begun_, true)) return;
  if (rules_.has_header) read_header();
}

bool TableReader::next(TableRow& row) {
  begin();
  if (!read(row)) return false;
  if (row.error) return true;
  if (columns_.empty()) {
    for (size_t i = 1; i <= row.cells.size(); ++i) columns_.push_back(std::to_string(i));
  }
  if (row.cells.size() != columns_.size()) {
    row.error = Error(ErrorCode::kInput, row.where,
                      fmt::format("expected {} columns, got {}", columns_.size(), row.cells.size()));
    row.cells.clear();
  }
  return true;
}

}  // namespace deberta
