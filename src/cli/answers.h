// Answers out: a table, TSV, JSON or JSON Lines, always whole lines, in the order of the rows.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "cli/rows.h"
#include "config/options.h"

namespace deberta::cli {

using Cells = std::vector<std::string>;

// What a verb says of one row, in both shapes.
struct Answer {
  JsonObject object;              // json and jsonl
  std::vector<Cells> lines;       // table and tsv: one line or more, each with as many cells as there are columns
  std::vector<Cells> words = {};  // conll: a line a word
  std::string painted = {};       // not empty: what a table shows instead, made for a terminal
};

// For a terminal: control characters as escapes, so that no text can drive it.
std::string escape_table(std::string_view text);

std::string cell(float value);  // shortest text that reads back to the same value
std::string cell(uint64_t value);

enum class Format { kTable, kTsv, kJson, kJsonl, kConll };
Format format_of(const Options& options);  // auto: a table on a terminal, else tsv

class AnswerWriter {
 public:
  // `kept`: keys of the rows that a table and tsv show before the columns.
  AnswerWriter(Format format, std::vector<std::string> columns, bool has_header, FileWriter& out,
               std::vector<std::string> kept = {});

  void answer(const Row& row, const Answer& answer);
  // Keeps the row's place: an object with the key "error", or a line whose first cell is "!error".
  void bad(const Row& row, const Error& error);
  void flush();   // after each batch
  void finish();  // closes the JSON document

 private:
  void object(const Row& row, JsonObject result);
  void line(const Row& row, Cells cells);  // with what is kept of the row
  void line(const Cells& cells);
  void sentence(const std::vector<Cells>& words);  // and a blank line
  void write_table();

  Format format_;
  std::vector<std::string> kept_;
  std::vector<std::string> columns_;  // the kept ones too
  bool has_header_;
  FileWriter& out_;
  std::string pending_;
  std::vector<Cells> table_;
  size_t written_ = 0;
};

// Calls `run` with the place that -o names (written atomically) or standard output.
void with_output(const Options& options, const std::function<void(FileWriter&)>& run);

// A line on standard error for a person, unless --quiet.
void note(const Options& options, const std::string& text);

// For verbs that print one table: rows as objects and cells.
void print_table(const Options& options, const std::vector<std::string>& columns, const std::vector<Answer>& answers);

}  // namespace deberta::cli
