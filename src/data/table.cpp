// One pass over the bytes of a row; quotes may need more lines.
#include "data/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
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

constexpr std::string_view kSeparatorLine = "sep=";  // as spreadsheets write and read it

// The separators of a line outside of quotes.
std::string separators_of(std::string_view line) {
  std::string separators;
  bool is_quoted = false;
  for (const char c : line) {
    is_quoted ^= c == '"';
    if (!is_quoted && (c == ',' || c == ';' || c == '\t')) separators += c;
  }
  return separators;
}

char separator_of(std::string_view line) {
  const std::string separators = separators_of(line);
  for (const char c : {',', ';', '\t'}) {
    if (separators.find(c) != std::string::npos) return c;
  }
  return ',';
}

bool is_quoted(std::string_view cell) {
  return cell.size() >= 2 && cell.front() == '"' && cell.back() == '"';
}

// The position of the quote that closes a quoted text; doubled ones do not.
size_t closing_quote(std::string_view text) {
  size_t at = text.find('"');
  while (at != std::string_view::npos && at + 1 < text.size() && text[at + 1] == '"') at = text.find('"', at + 2);
  return at;
}

// Whether every cell is quoted, with no quote inside that is not doubled.
bool are_quoted(std::string_view line, char separator) {
  size_t cells = 0;
  for (size_t at = 0; at <= line.size(); ++cells) {
    if (at == line.size() || line[at] != '"') return false;
    const size_t closing = closing_quote(line.substr(at + 1));
    if (closing == std::string_view::npos) return false;
    at += closing + 2;  // where the separator should be
    if (at < line.size() && line[at] != separator) return false;
    ++at;
  }
  return cells > 1;
}

// Whether a cell begins with a quote that it does not close.
bool opens_quote(std::string_view cell) {
  return cell.starts_with('"') && std::count(cell.begin(), cell.end(), '"') % 2 != 0;
}

// A text with doubled quotes made single.
std::string single_quotes(std::string_view text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); i += text[i] == '"' ? size_t{2} : size_t{1}) plain += text[i];
  return plain;
}

}  // namespace

void TableReader::split(const std::string& text, TableRow& row) {
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(rules_.separator, begin), text.size());
    add_cell(row);
    row.cells.back() = text_of_tsv_cell(text.substr(begin, end - begin));
    looks_quoted_ |= is_quoted(row.cells.back());
    begin = end + 1;
  }
}

void TableReader::split_quoted(std::string text, TableRow& row) {
  enum class At { kStart, kPlain, kQuoted, kAfterQuote } state = At::kStart;
  size_t bytes = text.size(), line = lines_.number();
  const auto location_of = [&](size_t i) { return fmt::format("line {}, column {}", line, i + 1); };
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
    } else if (c == '"' && state != At::kPlain) {
      if (state == At::kAfterQuote) row.cells.back() += '"';
      state = At::kQuoted;
    } else {
      if (state == At::kAfterQuote) refuse(row, location_of(i) + ": expected a separator after a quoted cell");
      row.cells.back() += c;
      state = At::kPlain;
    }
  }
}

bool TableReader::read_physical(PhysicalLine& line) {
  if (ahead_.empty()) {
    const bool is_there = read_text_line(lines_, line.text);
    line.end = lines_.line_end();
    return is_there;
  }
  line = std::move(ahead_.front());
  ahead_.pop_front();
  return true;
}

// Whether `first` and the lines after it are one row, with a quoted cell that holds the line ends; otherwise the lines
// are put back. The look ahead ends at the first line that closes a quote, and only such lines begin another.
bool TableReader::joins_lines(const PhysicalLine& first, TableRow& row) {
  const size_t last = first.text.text.rfind(rules_.separator) + 1;  // 0 where there is none
  if (!opens_quote(std::string_view(first.text.text).substr(last))) return false;
  std::string inside = first.text.text.substr(last + 1), rest;
  if (closing_quote(inside) != std::string::npos) return false;
  std::string end = first.end;
  std::deque<PhysicalLine> taken;
  bool is_closed = false;
  for (PhysicalLine line; !is_closed && taken.size() < kMaxLinesOfRow && read_physical(line);) {
    taken.push_back(line);
    const std::string& text = line.text.text;
    const auto cells = static_cast<size_t>(std::count(text.begin(), text.end(), rules_.separator)) + 1;
    if (line.text.error || cells == columns_.size() || inside.size() + text.size() > kMaxRowBytes) break;
    inside += end;
    end = line.end;
    const size_t closing = closing_quote(text);
    inside += std::string_view(text).substr(0, closing);
    if (closing == std::string::npos) continue;
    rest = text.substr(closing + 1);
    if (!rest.empty() && rest.front() != rules_.separator) break;
    if (opens_quote(std::string_view(rest).substr(rest.rfind(rules_.separator) + 1))) break;
    is_closed = true;
  }
  if (is_closed) {
    split(first.text.text.substr(0, last), row);
    row.cells.back() = single_quotes(inside);
    if (!rest.empty()) split(rest.substr(1), row);
    if (row.cells.size() == columns_.size()) return true;
    row.cells.clear();
  }
  ahead_.insert(ahead_.begin(), std::make_move_iterator(taken.begin()), std::make_move_iterator(taken.end()));
  return false;
}

// The next line that is not empty.
bool TableReader::read_line(PhysicalLine& line) {
  do {
    if (!read_physical(line)) return false;
  } while (!line.text.error && line.text.text.empty());
  return true;
}

// What the first row says of all.
void TableReader::look_at(const std::string& first) {
  if (rules_.separator == kFindSeparator) rules_.separator = separator_of(first);
  rules_.has_quotes |= are_quoted(first, rules_.separator);
}

bool TableReader::read(TableRow& row) {
  row = {};
  PhysicalLine line;
  if (!read_line(line)) return false;
  if (!std::exchange(has_looked_, true) && !line.text.error) {
    const std::string& text = line.text.text;
    if (text.size() == kSeparatorLine.size() + 1 && text.starts_with(kSeparatorLine)) {
      rules_.separator = text.back();
      if (!read_line(line)) return false;
    }
    look_at(line.text.text);
  }
  row.where = line.text.where;
  row.error = line.text.error;
  if (row.error) return true;
  try {
    if (rules_.has_quotes)
      split_quoted(std::move(line.text.text), row);
    else if (columns_.empty() || !joins_lines(line, row))
      split(line.text.text, row);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kFileRead) throw;  // the stream failed, not the row
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
  are_named_.clear();
  for (size_t i = 0; i < names.cells.size(); ++i) {
    are_named_.push_back(!names.cells[i].empty());
    if (names.cells[i].empty()) names.cells[i] = std::to_string(i + 1);
  }
  std::set<std::string_view> known;
  for (const std::string& name : names.cells) {
    if (!known.insert(name).second) refuse(names, fmt::format("two columns are named \"{}\"", name));
  }
  columns_ = std::move(names.cells);
}

JsonObject TableReader::by_column(TableRow row) const {
  JsonObject object;
  for (size_t i = 0; i < row.cells.size(); ++i) {
    const bool is_spare = row.cells[i].empty() && i < are_named_.size() && !are_named_[i];
    if (!is_spare) object.emplace_back(columns_[i], std::move(row.cells[i]));
  }
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
