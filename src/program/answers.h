// Writing answers: a table, TSV, CSV, JSON or JSON Lines, always whole lines, in the order of the rows.
#pragma once
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "options/verb_options.h"
#include "program/output.h"
#include "rows/row.h"

namespace deberta::program {

struct Cell {
  std::string text;
  bool is_score = false;  // --digits shortens it
  Cell() = default;
  Cell(std::string value) : text(std::move(value)) {}
  Cell(const char* value) : text(value) {}
};
using Cells = std::vector<Cell>;

// What a reader should know of the text that an answer is about.
struct TextMark {
  size_t cut_tokens = 0;
  bool is_empty = false;
};

// A verb's answer to one row, as an object and as lines.
struct Answer {
  JsonObject object;              // json and jsonl
  std::vector<Cells> lines;       // table, tsv and csv: one line or more, each with as many cells as there are columns
  std::vector<Cells> words = {};  // conll: one line per word; trec: one per document
  std::string painted = {};       // not empty: what a table shows instead, already escaped for a terminal
  size_t cut_tokens = 0;          // tokens of the row's texts that the model has not read
  bool is_of_empty_text = false;  // one of the row's texts says nothing
  std::vector<TextMark> marks = {};   // by line, where lines belong to different texts
  std::vector<JsonObject> kept = {};  // by line, beside what is kept of the row
};

// Null where the object has no such key.
const Json* find_member(const JsonObject& object, std::string_view name);

// What a cell shows of a value: a text as it is, anything else as JSON.
Cell kept_cell(const Json& value);

// `key`, or input_KEY, input_input_KEY ... where `is_taken`.
std::string free_key(const std::string& key, const std::function<bool(const std::string&)>& is_taken);

// For a terminal: control characters are escaped, so that no text can control it.
std::string escape_table(std::string_view text);

Cell cell(float value);   // a score: the shortest text that reads back as the same value
Cell cell(double value);  // the same
Cell cell(uint64_t value);

// --digits: the number of significant digits of scores; 0: all of them.
int digits_of(const OutputSettings& output);
std::string with_digits(const std::string& number, int digits);
Json with_digits(Json value, int digits);  // the floats in it

// --format; auto: by the extension of -o, else a table on a terminal and tsv elsewhere. Never kAuto.
Format format_of(const OutputSettings& output);
bool is_json(Format format);  // as one document or as lines

// The columns of a verb. With several lines per row, each begins with the row's number.
struct AnswerColumns {
  AnswerColumns(std::vector<std::string> column_names, bool lines_of_rows = false)
      : names(std::move(column_names)), are_lines_of_rows(lines_of_rows) {}
  AnswerColumns(std::initializer_list<std::string> column_names) : names(column_names) {}

  std::vector<std::string> names;
  bool are_lines_of_rows = false;
};

struct AnswerLayout {
  Format format = Format::kTsv;
  AnswerColumns columns;
  bool has_mark = false;  // a byte order mark
  bool has_header = true;
  std::vector<std::string> kept = {};  // keys of the rows, shown before the columns and in place of row numbers
  bool keeps_all = false;              // in csv and tsv: those of the first row that has any
  int digits = 0;
  bool has_notes = false;  // a last column says which answers are of texts that were cut or empty
};

class AnswerWriter {
 public:
  AnswerWriter(const AnswerLayout& layout, FileWriter& out);

  void answer(const Row& row, Answer answer);
  // Keeps the row's place: an object with the key "error", or a line whose first cell is "!error".
  void bad(const Row& row, const Error& error);
  void flush();   // after each batch
  void finish();  // closes the JSON document

 private:
  void add_lines(const Row& row, Answer& answer);
  void object(const Row& row, JsonObject result, const Answer* answer = nullptr);
  void line(const Row& row, Cells cells, const JsonObject& own = {});  // with the row's number or kept values
  bool holds(const Row& row, const Cells& cells, const JsonObject& own);
  void check_kept(const JsonObject& kept) const;
  void open_kept();
  void line(const Cells& cells);
  Cells header() const;
  JsonObject kept_of(const Row& row) const;
  std::string shown(const Cell& cell) const;
  void sentence(const std::vector<Cells>& words);  // and a blank line
  void ranking(const std::vector<Cells>& documents);
  void write_table();

  Format format_;
  std::vector<std::string> kept_;
  std::vector<std::string> columns_;  // the answer's own
  bool has_numbers_;
  bool keeps_all_;
  bool is_open_;             // the header is written
  std::vector<Cells> held_;  // lines of bad rows before it
  bool has_header_;
  bool has_notes_;
  bool is_bad_ = false;  // the line that is written says what went wrong, and nothing may keep it from that
  int digits_;
  std::vector<std::string> keys_;  // keys of answers in json and jsonl, those seen so far
  FileWriter& out_;
  std::string pending_;
  std::vector<Cells> table_;  // without the header
  size_t written_ = 0;
};

// For verbs that print one table, to standard output or -o: rows as objects and cells.
void print_table(const OutputSettings& output, const std::vector<std::string>& columns,
                 const std::vector<Answer>& answers);

}  // namespace deberta::program
