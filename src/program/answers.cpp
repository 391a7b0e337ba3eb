// Formats of answers (docs/reference/output.md).
#include "program/answers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "base/checked.h"
#include "base/utf8.h"
#include "data/cells.h"
#include "deberta/error.h"
#include "options/options.h"
#include "pipeline/answer_json.h"
#include "program/note.h"

namespace deberta::program {

std::string escape_table(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F)
      out += fmt::format("\\x{:02x}", byte);
    else
      out += c;
  }
  return out;
}

namespace {

template <class Float>
Cell score_cell(Float value) {
  char buffer[32];
  Cell cell(std::string(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr));
  cell.is_score = true;
  return cell;
}

}  // namespace

Cell cell(float value) {
  return score_cell(value);
}
Cell cell(double value) {
  return score_cell(value);
}
Cell cell(uint64_t value) {
  return std::to_string(value);
}

int digits_of(const OutputSettings& output) {
  return output.digits ? output.digits->value : 0;
}

std::string with_digits(const std::string& number, int digits) {
  const auto value = digits > 0 ? parse_number<double>(number) : std::nullopt;
  if (!value || !std::isfinite(*value)) return number;
  char buffer[64];
  const char* end =
      std::to_chars(buffer, buffer + sizeof buffer, *value, std::chars_format::scientific, digits - 1).ptr;
  return score_cell(parse_number<double>(std::string_view(buffer, end)).value()).text;
}

Json with_digits(Json value, int digits) {
  if (digits == 0) return value;
  if (value.is_array()) {
    for (Json& item : value.as_array()) item = with_digits(std::move(item), digits);
  } else if (value.is_object()) {
    for (JsonMember& member : value.as_object()) member.second = with_digits(std::move(member.second), digits);
  } else if (value.is_number() && !value.is_integer() && std::isfinite(value.as_number())) {
    return parse_number<double>(with_digits(value.dump(), digits)).value();
  }
  return value;
}

Format format_of(const OutputSettings& output) {
  if (const Format format = output_format(output); format != Format::kAuto) return format;
  const std::string file = output.file.value_or("");
  const bool is_file = (!file.empty() && file != "-") || !output.folder.value_or("").empty();
  return !is_file && ::isatty(STDOUT_FILENO) != 0 ? Format::kTable : Format::kTsv;
}

bool is_json(Format format) {
  return format == Format::kJson || format == Format::kJsonl;
}

namespace {

constexpr size_t kMaxColumns = 4096;  // as of a table that is read

// What the last column says of a text.
std::string note_of(const TextMark& mark) {
  const std::string cut = mark.cut_tokens > 0 ? fmt::format("{} tokens cut", mark.cut_tokens) : "";
  if (!mark.is_empty) return cut;
  return cut.empty() ? "empty text" : cut + ", empty text";
}

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// `key`, or input_KEY where the answer has that key itself. `is_taken` may be true of `key` itself.
template <class IsTaken>
std::string free_name(const std::string& key, const std::vector<std::string>& own, const IsTaken& is_taken) {
  if (!has(own, key)) return key;
  return free_key(fmt::format("input_{}", key), is_taken);
}

// Each key once, without its value, in the order in which the objects have them.
JsonObject all_of(const std::vector<JsonObject>& objects) {
  JsonObject all;
  std::set<std::string_view> seen;
  for (const JsonObject& object : objects) {
    for (const JsonMember& member : object) {
      if (seen.insert(member.first).second) all.emplace_back(member.first, "");
    }
  }
  return all;
}

}  // namespace

const Json* find_member(const JsonObject& object, std::string_view name) {
  const auto member = std::ranges::find(object, name, &JsonMember::first);
  return member == object.end() ? nullptr : &member->second;
}

Cell kept_cell(const Json& value) {
  return value.is_string() ? value.as_string() : value.dump();
}

std::string free_key(const std::string& key, const std::function<bool(const std::string&)>& is_taken) {
  std::string name = key;
  while (is_taken(name)) name = fmt::format("input_{}", name);
  return name;
}

AnswerWriter::AnswerWriter(const AnswerLayout& layout, FileWriter& out)
    : format_(layout.format),
      kept_(layout.kept),
      columns_(layout.columns.names),
      has_numbers_(layout.columns.are_lines_of_rows && kept_.empty() && !layout.keeps_all),
      keeps_all_(layout.keeps_all),
      is_open_(!keeps_all_),
      has_header_(layout.has_header),
      has_notes_(layout.has_notes),
      digits_(layout.digits),
      out_(out) {
  if (has_notes_) columns_.emplace_back("note");
  for (size_t i = 1; i < columns_.size(); ++i) {  // a label of the user's own may have any name
    while (std::find(columns_.begin(), columns_.begin() + static_cast<ptrdiff_t>(i), columns_[i]) !=
           columns_.begin() + static_cast<ptrdiff_t>(i))
      columns_[i] += '_';
  }
  if (layout.has_mark) pending_ += "\xEF\xBB\xBF";
  if ((format_ == Format::kTsv || format_ == Format::kCsv) && has_header_ && is_open_) line(header());
  if (format_ == Format::kJson) pending_.push_back('[');
}

Cells AnswerWriter::header() const {
  Cells cells;
  if (has_numbers_) cells.emplace_back("row");
  for (const std::string& key : kept_) {
    cells.emplace_back(
        free_name(key, columns_, [&](const std::string& name) { return has(columns_, name) || has(kept_, name); }));
  }
  cells.insert(cells.end(), columns_.begin(), columns_.end());
  return cells;
}

// A kept key never takes the name of one of the answer's keys.
JsonObject AnswerWriter::kept_of(const Row& row) const {
  std::vector<std::string> own = keys_.empty() ? columns_ : keys_;
  own.insert(own.end(), {"error", kCutTokensKey, kEmptyKey});
  JsonObject kept;
  for (const auto& [key, value] : row.kept) {
    const auto is_taken = [&](const std::string& name) {
      const auto has_name = [&](const JsonMember& member) { return member.first == name; };
      return has(own, name) || std::any_of(row.kept.begin(), row.kept.end(), has_name);
    };
    kept.emplace_back(free_name(key, own, is_taken), value);
  }
  return kept;
}

std::string AnswerWriter::shown(const Cell& cell) const {
  if (cell.is_score) return with_digits(cell.text, digits_);
  return is_valid_utf8(cell.text) ? cell.text : replace_invalid_utf8(cell.text);  // a label with a lone surrogate
}

void AnswerWriter::answer(const Row& row, Answer answer) {
  if (is_json(format_)) {
    if (keys_.empty()) {
      for (const JsonMember& member : answer.object) keys_.push_back(member.first);
    }
    return object(row, std::move(answer.object), &answer);
  }
  if (format_ == Format::kConll) return sentence(answer.words);
  if (format_ == Format::kTrec) return ranking(answer.words);
  if (format_ == Format::kTable && !answer.painted.empty()) {
    write_table();
    pending_ += answer.painted + '\n';
    has_header_ = false;
    return;
  }
  if (!is_open_) holds(row, {}, all_of(answer.kept));
  const size_t before = pending_.size();
  try {
    add_lines(row, answer);
  } catch (...) {
    pending_.resize(before);
    throw;
  }
}

void AnswerWriter::add_lines(const Row& row, Answer& answer) {
  const TextMark whole{answer.cut_tokens, answer.is_of_empty_text};
  // A key that one line has is no line's from the row.
  JsonObject every = all_of(answer.kept);
  std::erase_if(every, [&](const JsonMember& member) { return !has(kept_, member.first); });
  for (size_t i = 0; i < answer.lines.size(); ++i) {
    Cells cells = std::move(answer.lines[i]);
    if (has_notes_) cells.emplace_back(note_of(answer.marks.empty() ? whole : answer.marks[i]));
    JsonObject own = answer.kept.empty() ? JsonObject() : answer.kept[i];
    for (const JsonMember& member : every) {
      if (find_member(own, member.first) == nullptr) own.push_back(member);
    }
    line(row, std::move(cells), own);
  }
  if (!answer.lines.empty() || !has_notes_ || note_of(whole).empty()) return;
  Cells cells(columns_.size());  // what the row's text was like is not lost with its answers
  cells.back() = note_of(whole);
  line(row, std::move(cells));
}

void AnswerWriter::bad(const Row& row, const Error& error) {
  if (is_json(format_)) {
    JsonObject detail{{"code", error_code_info(error.code()).name}, {"message", std::string(error.what())}};
    return object(row, {{"error", std::move(detail)}});
  }
  if (format_ == Format::kConll) return sentence({{"!error", error.what()}});
  if (format_ == Format::kTrec) return note(fmt::format("row {}: {}", row.number, error.what()));
  is_bad_ = true;
  Cells cells(columns_.size());
  cells.front() = "!error";
  if (cells.size() > 1) {
    cells[1] = error.what();
  } else {
    cells.front().text += std::string(" ") + error.what();
  }
  line(row, std::move(cells));
  is_bad_ = false;
}

void AnswerWriter::object(const Row& row, JsonObject result, const Answer* answer) {
  JsonObject whole = kept_of(row);
  for (JsonMember& member : result)
    whole.emplace_back(std::move(member.first), with_digits(std::move(member.second), digits_));
  if (answer != nullptr) add_marks({answer->cut_tokens, answer->is_of_empty_text}, whole);
  if (format_ == Format::kJson) pending_ += written_ == 0 ? "\n" : ",\n";
  pending_ += Json(std::move(whole)).dump();
  if (format_ == Format::kJsonl) pending_ += '\n';
  ++written_;
}

void AnswerWriter::sentence(const std::vector<Cells>& words) {
  for (const Cells& cells : words) line(cells);
  pending_ += '\n';
}

// A line of a TREC run: cells that hold no white space, with spaces between.
void AnswerWriter::ranking(const std::vector<Cells>& documents) {
  for (const Cells& cells : documents) {
    for (size_t i = 0; i < cells.size(); ++i) pending_ += fmt::format("{}{}", i > 0 ? " " : "", shown(cells[i]));
    pending_ += '\n';
  }
}

// The header of rows whose keys are all kept, and the lines that waited for it.
void AnswerWriter::open_kept() {
  is_open_ = true;
  if (has_header_) line(header());
  const bool was_bad = std::exchange(is_bad_, true);
  for (Cells& cells : std::exchange(held_, {})) {
    cells.insert(cells.begin(), kept_.size(), Cell());
    line(cells);
  }
  is_bad_ = was_bad;
}

// The columns of the first table, or the keys of the first row that has an answer: until then the lines of others wait.
bool AnswerWriter::holds(const Row& row, const Cells& cells, const JsonObject& own) {
  constexpr size_t kMostHeld = 10000;
  if (!is_open_ && !row.columns && is_bad_) {
    if (held_.size() == kMostHeld)
      throw Error(ErrorCode::kInput, "--keep",
                  fmt::format("all: expected a row with an answer among the first {}, whose keys are the columns, got "
                              "none; name the keys",
                              kMostHeld));
    held_.push_back(cells);
    return true;
  }
  if (!is_open_) {
    if (row.columns) kept_ = *row.columns;
    for (const JsonObject* kept : {&row.kept, &own}) {
      for (const JsonMember& member : *kept) {
        if (!has(kept_, member.first)) kept_.push_back(member.first);
        if (kept_.size() > kMaxColumns)
          throw Error(ErrorCode::kInput, "row",
                      fmt::format("expected at most {} keys to keep as columns; name them with --keep", kMaxColumns));
      }
    }
    open_kept();
  }
  if (!is_bad_) {
    check_kept(row.kept);
    check_kept(own);
  }
  return false;
}

void AnswerWriter::check_kept(const JsonObject& kept) const {
  for (const JsonMember& member : kept) {
    if (has(kept_, member.first)) continue;
    throw Error(
        ErrorCode::kInput, "row",
        fmt::format(
            "expected the keys of the first row ({}), which are the columns, got also {}; name the keys with --keep, "
            "or write jsonl",
            fmt::join(kept_, ", "), quote_json(member.first)));
  }
}

void AnswerWriter::line(const Row& row, Cells cells, const JsonObject& own) {
  if (keeps_all_ && holds(row, cells, own)) return;
  Cells whole;
  if (has_numbers_) whole.push_back(cell(uint64_t{row.number}));
  for (const std::string& name : kept_) {
    const Json* value = find_member(own, name);
    if (value == nullptr) value = find_member(row.kept, name);
    whole.push_back(value == nullptr ? Cell() : kept_cell(*value));
  }
  std::move(cells.begin(), cells.end(), std::back_inserter(whole));
  line(whole);
}

void AnswerWriter::line(const Cells& cells) {
  if (format_ == Format::kTable) {
    table_.push_back(cells);
    for (Cell& cell : table_.back()) cell.text = shown(cell);
    return;
  }
  const bool is_csv = format_ == Format::kCsv;
  for (size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) pending_ += is_csv ? ',' : '\t';
    const std::string text = shown(cells[i]);
    if (is_csv && text.find('\0') != std::string::npos && !is_bad_)
      throw Error(ErrorCode::kInput, "row",
                  "expected text that CSV can carry, got a NUL character; write tsv or jsonl");
    pending_ += is_csv ? csv_cell(text.substr(0, is_bad_ ? text.find('\0') : std::string::npos)) : tsv_cell(text);
  }
  // Most readers skip an empty line: a single empty cell is written as quotes.
  if (cells.size() == 1 && cells.front().text.empty()) pending_ += is_csv ? "\"\"" : "\\:";
  pending_ += '\n';
}

void AnswerWriter::write_table() {
  if (table_.empty()) return;
  const bool has_note = std::ranges::any_of(table_, [](const Cells& cells) { return !cells.back().text.empty(); });
  if (has_header_) table_.insert(table_.begin(), header());
  if (has_notes_ && !has_note) {
    for (Cells& cells : table_) cells.pop_back();
  }
  std::vector<size_t> widths(table_.front().size());
  for (Cells& cells : table_) {
    for (size_t i = 0; i < cells.size(); ++i) {
      cells[i].text = escape_table(cells[i].text);
      widths[i] = std::max(widths[i], std::min<size_t>(60, count_code_points(cells[i].text)));
    }
  }
  for (const Cells& cells : table_) {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
      text += cells[i].text;
      const size_t used = count_code_points(cells[i].text);
      if (i + 1 < cells.size()) text.append(2 + (used < widths[i] ? widths[i] - used : 0), ' ');
    }
    pending_ += text.substr(0, text.find_last_not_of(' ') + 1) + '\n';
  }
  table_.clear();
  has_header_ = false;
}

void AnswerWriter::flush() {
  write_table();
  out_.write(std::exchange(pending_, {}));
}

void AnswerWriter::finish() {
  if (!is_open_) open_kept();
  if (format_ == Format::kJson) pending_ += written_ == 0 ? "]\n" : "\n]\n";
  flush();
}

void print_table(const OutputSettings& output, const std::vector<std::string>& columns,
                 const std::vector<Answer>& answers) {
  with_output(output, [&](FileWriter& out) {
    AnswerWriter writer({.format = format_of(output),
                         .columns = columns,
                         .has_mark = output.bom.value_or(false),
                         .has_header = !output.no_header.value_or(false)},
                        out);
    for (const Answer& answer : answers) writer.answer({}, answer);
    writer.finish();
  });
}

}  // namespace deberta::program
