// Cells get the names of their columns; everything else is a JSON object already.
#include "data/records.h"

#include <fmt/format.h>

#include <algorithm>

namespace deberta {
namespace {

bool has_one_of(const std::vector<std::string>& names, const std::vector<std::string>& wanted) {
  return std::any_of(wanted.begin(), wanted.end(), [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  });
}

TableReader open_table(LineReader lines, RowForm form) {
  const bool is_csv = form == RowForm::kCsv;
  // Whether the first line names the columns is decided here, not by the reader.
  return {std::move(lines), {.separator = is_csv ? kFindSeparator : '\t', .has_quotes = is_csv, .has_header = false}};
}

// The next line that is not blank.
bool next_line(LineReader& lines, TextLine& line) {
  do {
    if (!read_text_line(lines, line)) return false;
  } while (!line.error && is_blank(line.text));
  return true;
}

}  // namespace

std::string FieldNames::text() const {
  return fmt::format("{}", fmt::join(names, " or "));
}

std::vector<Remedy> FieldNames::remedies() const {
  if (argument.empty()) return {};
  return {{"name one that the file has with {}", argument}};
}

RecordReader::RecordReader(LineReader lines, RowForm form, RecordColumns columns)
    : form_(form), columns_(std::move(columns)), lines_(std::move(lines)) {
  if (form_ == RowForm::kConll) throw Error(ErrorCode::kInternal, lines_.source().name(), "sentences are not records");
  if (form_ == RowForm::kTsv || form_ == RowForm::kCsv) table_.emplace(open_table(std::move(lines_), form_));
}

bool RecordReader::next(JsonRow& row) {
  if (table_) return next_of_table(row);
  if (form_ == RowForm::kText) return next_of_text(row);
  return document_ ? next_of_document(row) : next_of_lines(row);
}

// Whether the first line is a header; else it is a row.
bool RecordReader::take_header(TableRow first) {
  if (first.error) throw *first.error;
  const auto is_named = [&](const FieldNames& wanted) { return has_one_of(first.cells, wanted.names); };
  if (std::all_of(columns_.needed.begin(), columns_.needed.end(), is_named)) {
    table_->name_columns(std::move(first));
    return true;
  }
  const bool is_partly_named = std::any_of(columns_.needed.begin(), columns_.needed.end(), is_named);
  if (!is_partly_named && !columns_.without_header.empty() && first.cells.size() == columns_.without_header.size()) {
    first.cells = columns_.without_header;
    table_->name_columns(std::move(first));
    return false;
  }
  std::vector<std::string> wanted;
  for (const FieldNames& field : columns_.needed) wanted.push_back(field.text());
  throw Error(ErrorCode::kInput,
              {{.where = first.where,
                .message = fmt::format("expected a header line with columns named {}, got {}", fmt::join(wanted, ", "),
                                       quote_begin(fmt::format("{}", fmt::join(first.cells, ", ")))),
                .remedies = std::ranges::find_if_not(columns_.needed, is_named)->remedies()}});
}

bool RecordReader::next_of_table(JsonRow& row) {
  TableRow cells;
  if (!table_->next(cells)) return false;
  if (!std::exchange(has_names_, true) && take_header(cells) && !table_->next(cells)) return false;
  row = {std::move(cells.where), nullptr, std::move(cells.error)};
  if (!row.error) row.value = table_->by_column(std::move(cells));
  return true;
}

bool RecordReader::next_of_text(JsonRow& row) {
  TextLine line;
  if (!next_line(lines_, line)) return false;
  row = {std::move(line.where), nullptr, std::move(line.error)};
  if (!row.error) row.value = JsonObject{{"text", std::move(line.text)}};
  return true;
}

bool RecordReader::next_of_lines(JsonRow& row) {
  TextLine line;
  if (!next_line(lines_, line)) return false;
  // An array is not a row: the first line begins a document.
  if (next_++ == 0 && !line.error && line.text[line.text.find_first_not_of(" \t")] == '[') {
    read_document(std::move(line.text), line.where);
    return next_of_document(row);
  }
  row = parse_json_row(std::move(line));
  if (!row.error && !row.value.is_object())
    row.error = Error(ErrorCode::kInput, row.where, "expected an object, got " + row.value.describe());
  return true;
}

void RecordReader::read_document(std::string text, const std::string& where) {
  for (TextLine line; read_text_line(lines_, line);) {
    if (line.error) throw *line.error;
    text += '\n' + line.text;
    if (text.size() > kMaxJsonDocumentBytes)
      throw Error(
          ErrorCode::kTooLarge, where,
          fmt::format("expected an array of rows of at most {} bytes; write one row per line", kMaxJsonDocumentBytes));
  }
  Json document = parse_json(
      text, lines_.source().name(),
      {.max_bytes = 3 * kMaxJsonDocumentBytes, .max_depth = kMaxJsonRowDepth + 1, .max_nodes = kMaxJsonDocumentValues});
  document_ = std::move(document.as_array());
  next_ = 0;
}

bool RecordReader::next_of_document(JsonRow& row) {
  if (next_ >= document_->size()) return false;
  row = {fmt::format("{}: item {}", lines_.source().name(), next_ + 1), std::move((*document_)[next_]), std::nullopt};
  ++next_;
  if (!row.value.is_object())
    row.error = Error(ErrorCode::kInput, row.where, "expected an object, got " + row.value.describe());
  return true;
}

}  // namespace deberta
