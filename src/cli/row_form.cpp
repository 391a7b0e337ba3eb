// Endings, and two questions about a first line: is it JSON, does it name columns.
#include "cli/row_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "cli/answers.h"
#include "cli/row_fields.h"
#include "data/endings.h"
#include "data/json_rows.h"
#include "data/lines.h"
#include "deberta/error.h"
#include "options/options.h"

namespace deberta::cli {
namespace {

bool is_json(std::string_view text) {
  try {
    parse_json(text, "", {.max_bytes = LineReader::kMaxLineBytes, .max_depth = JsonLineReader::kMaxDepth});
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The form of JSON that a file with this first line has; "" when it has none. A text seldom begins with a bracket and
// a quote, rows of JSON always do.
std::string_view json_form(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r";
  const size_t begin = line.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  const size_t next = line.find_first_not_of(kSpace, begin + 1);
  const char bracket = line[begin], inner = next == std::string_view::npos ? '\0' : line[next];
  if (bracket == '[' && (inner == '\0' || inner == '{' || inner == '"')) return "json";
  if (bracket != '{' || (inner != '\0' && inner != '"' && inner != '}')) return {};
  return is_json(line) ? "jsonl" : "json";
}

// The form of a table whose header this line may be: a cell of several has the name of a text of the verb.
std::string_view table_form(std::string_view line, const std::vector<std::string>& names) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  for (const auto& [separator, form] : {std::pair('\t', "tsv"), std::pair(',', "csv")}) {
    if (line.find(separator) == std::string_view::npos) continue;
    for (size_t at = 0; at <= line.size();) {
      const size_t end = std::min(line.find(separator, at), line.size());
      if (std::find(names.begin(), names.end(), line.substr(at, end - at)) != names.end()) return form;
      at = end + 1;
    }
  }
  return {};
}

std::string guess_form(const Options& options, ByteSource& source, std::string_view ending) {
  const std::string line(source.peek_line(LineReader::kMaxLineBytes));
  const std::string_view json = json_form(line);
  if (!json.empty() && ending.empty()) {
    note(options,
         fmt::format("note: {} looks like JSON and is read as {} (--input-format text reads its lines as texts)",
                     source.name(), json));
    return std::string(json);
  }
  const std::string_view meant = !json.empty() ? json : table_form(line, row_shape(options).names);
  if (!meant.empty()) {
    note(options, fmt::format("note: the lines of {} are read as texts, although it looks like {} (--input-format {})",
                              source.name(), meant, meant));
  }
  return "text";
}

}  // namespace

std::string row_form(const Options& options, ByteSource& source) {
  const std::string& given = options.text("input-format");
  if (given != "auto") return given;
  const std::string_view ending = form_of_ending(source.name());
  if (ending == "conll" && options.verb() != "ner") {
    throw Error(ErrorCode::kUsage, source.name(),
                fmt::format("expected text, tsv, csv, jsonl or json for {}, got CoNLL columns; --input-format text "
                            "reads its lines as texts",
                            options.verb()));
  }
  if (!ending.empty() && ending != "text") return std::string(ending);
  return guess_form(options, source, ending);
}

void note_file_names(const Options& options) {
  constexpr size_t kMaxPathBytes = 4096;
  for (const std::string& argument : options.arguments) {
    if (argument.size() > kMaxPathBytes || !is_regular_file(argument)) continue;
    note(options, fmt::format("note: \"{0}\" is read as a text, although a file has that name; -i {0} reads the file",
                              argument));
    return;
  }
}

}  // namespace deberta::cli
