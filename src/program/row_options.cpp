// The choice between arguments, files and standard input.
#include "program/row_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/file.h"
#include "data/row_form.h"
#include "deberta/error.h"
#include "program/answers.h"
#include "program/interrupt.h"
#include "program/note.h"
#include "program/parquet_files.h"
#include "rows/row_chain.h"

namespace deberta::program {
namespace {

void say_guess(const FormGuess& guess) {
  const std::string_view form = to_string(guess.form);
  note(guess.is_followed
           ? fmt::format("note: {} looks like JSON and is read as {} (--input-format text reads its lines as texts)",
                         guess.file, form)
           : fmt::format("note: the lines of {} are read as texts, although it looks like {} (--input-format {})",
                         guess.file, form, form));
}

// A text passed as an argument may be the name of a file: perhaps the file was meant.
void note_file_names(const std::vector<std::string>& texts) {
  constexpr size_t kMaxPathBytes = 4096;
  for (const std::string& text : texts) {
    if (text.size() > kMaxPathBytes || !is_regular_file(text)) continue;
    note(fmt::format("note: \"{0}\" is read as a text, although a file has that name; -i {0} reads the file", text));
    return;
  }
}

std::vector<std::string> input_paths(const RowReading& reading) {
  std::vector<std::string> paths = reading.files;
  if (!reading.texts.empty() && !paths.empty())
    throw Error(ErrorCode::kUsage, "--input", "expected texts or an input file, got both");
  if (reading.texts.empty() && paths.empty() && ::isatty(STDIN_FILENO) != 0)
    throw Error(ErrorCode::kUsage, reading.verb, "expected a text, --input FILE, or rows on standard input, got none");
  if (std::count(paths.begin(), paths.end(), "-") > 1)
    throw Error(ErrorCode::kUsage, "--input", "expected standard input once, got it twice");
  if (paths.empty()) paths.emplace_back("-");
  const auto parquet = std::ranges::find_if(paths, has_parquet_ending);
  if (parquet != paths.end() && reading.settings.input_format == "auto") refuse_parquet(*parquet);
  return paths;
}

std::optional<char> separator_of(const RowSettings& settings) {
  const std::string text = settings.separator.value_or("");
  if (text.empty()) return std::nullopt;
  if (text == "tab" || text == "\\t") return '\t';
  if (text.size() != 1 || text == "\"" || text == "\n" || text == "\r")
    throw Error(ErrorCode::kUsage, "--separator",
                fmt::format("expected a character of one byte that is not a quote, or tab, got {}", quote_json(text)));
  return text.front();
}

void say_quotes(const std::string& file) {
  note(
      fmt::format("note: {}: cells begin and end with quotes, which stay in the texts, since tsv has no quoting; "
                  "--input-format csv --separator tab reads quoted cells",
                  file));
}

void say_header(const std::string& file) {
  note(
      fmt::format("note: {}: the first row is read as data, although it looks like a header: when --input-field has "
                  "numbers, a file has no header; name the columns instead",
                  file));
}

RowRules row_rules(const RowReading& reading) {
  const RowSettings& settings = reading.settings;
  RowRules rules{.fields = {.shape = reading.shape, .fields = settings.input_field}};
  rules.fields.joins_words = reading.has_conll;
  if (settings.keep)
    rules.fields.kept = {settings.keep->value == Names{"all"}, reading.keeps_texts, kept_by_name(settings)};
  rules.form = {.requested = parse_row_form(settings.input_format),
                .has_conll = reading.has_conll,
                .separator = separator_of(settings),
                .on_guess = say_guess,
                .on_quotes = say_quotes,
                .on_header = say_header};
  return rules;
}

std::unique_ptr<RowSource> open_plain_rows(const RowReading& reading, const std::function<bool()>& is_stopped) {
  const std::vector<std::string> paths = input_paths(reading);
  const RowRules rules = row_rules(reading);
  if (!reading.texts.empty()) {
    std::unique_ptr<RowSource> rows = argument_rows(reading.texts, rules.fields, reading.verb);
    note_file_names(reading.texts);
    return rows;
  }
  std::vector<std::unique_ptr<RowSource>> files;
  for (const std::string& path : paths) {
    const auto open = [rules, path, is_stopped] { return open_row_file(path, rules, is_stopped); };
    if (path == "-" || is_stream(path))
      files.push_back(late_rows(open));
    else
      files.push_back(open());
  }
  if (files.size() == 1) return std::move(files.front());
  return chained_rows(std::move(files));
}

}  // namespace

RowReading reading_of(const RowVerb& options) {
  return {.verb = options.verb,
          .texts = options.arguments,
          .files = options.input,
          .settings = options.rows,
          .keeps_texts = keeps_all_in_table(options),
          .batch_tokens = options.encoding.batch_tokens};
}

RowShape pair_shape() {
  return {{"text", "text_pair"}, false, true};
}

bool keeps_all_in_table(const RowVerb& options) {
  const Format format = format_of(options.output);
  const bool is_table = format == Format::kCsv || format == Format::kTsv;
  return is_table && options.rows.keep && options.rows.keep->is_given() && options.rows.keep->value == Names{"all"};
}

Names kept_by_name(const RowSettings& settings) {
  Names names = settings.keep ? settings.keep->value : Names{};
  if (names.size() == 1 && (names[0] == "all" || names[0] == "none")) names.clear();
  for (auto name = names.begin(); name != names.end();) {
    name = std::find(names.begin(), name, *name) != name ? names.erase(name) : name + 1;
  }
  return names;
}

std::unique_ptr<RowSource> open_rows(const RowReading& reading, const std::function<bool()>& is_stopped) {
  std::unique_ptr<RowSource> rows = open_plain_rows(reading, is_stopped);
  if (reading.query.empty()) return rows;
  return query_row("--query", reading.query, std::move(rows));
}

ReadAhead read_rows(std::optional<size_t> batch_tokens, EncodeRow encode, const OpenRows& open) {
  ReadAheadRules rules{.encode = std::move(encode), .is_stopped = [] { return interrupted() != 0; }};
  if (batch_tokens) rules.batch_tokens = *batch_tokens;
  return ReadAhead(open, std::move(rules));
}

ReadAhead read_rows(const RowReading& reading, EncodeRow encode) {
  return read_rows(reading.batch_tokens, std::move(encode),
                   [&](const std::function<bool()>& is_stopped) { return open_rows(reading, is_stopped); });
}

}  // namespace deberta::program
