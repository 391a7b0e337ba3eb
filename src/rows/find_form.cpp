// Endings, and questions about a first line: is it JSON, does it name columns, is it a word with its tag.
#include "rows/find_form.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/json.h"
#include "data/json_rows.h"
#include "data/lines.h"
#include "deberta/error.h"

namespace deberta {
namespace {

bool is_json(std::string_view text) {
  try {
    parse_json(text, "", {.max_bytes = LineReader::kMaxLineBytes, .max_depth = JsonLineReader::kMaxDepth});
    return true;
  } catch (const Error&) {
    return false;
  }
}

// The form of JSON that a file with this first line has, if any. A text seldom begins with a bracket and a quote, rows
// of JSON always do.
std::optional<RowForm> json_form(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r";
  const size_t begin = line.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return std::nullopt;
  const size_t next = line.find_first_not_of(kSpace, begin + 1);
  const char bracket = line[begin], inner = next == std::string_view::npos ? '\0' : line[next];
  if (bracket == '[' && (inner == '\0' || inner == '{' || inner == '"')) return RowForm::kJson;
  if (bracket != '{' || (inner != '\0' && inner != '"' && inner != '}')) return std::nullopt;
  return is_json(line) ? RowForm::kJsonl : RowForm::kJson;
}

// A cell without its quotes, in lower case.
std::string name_of_cell(std::string_view cell) {
  if (cell.size() >= 2 && cell.front() == '"' && cell.back() == '"') cell = cell.substr(1, cell.size() - 2);
  return lower_case(cell);
}

// The form of a table whose header this line may be: a cell of several has the name of a text of the verb.
std::optional<RowForm> table_form(std::string_view line, const std::vector<std::string>& names) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  constexpr std::string_view kSaysSeparator = "sep=";
  if (line.starts_with(kSaysSeparator) && line.size() == kSaysSeparator.size() + 1) return RowForm::kCsv;
  for (const auto& [separator, form] :
       {std::pair('\t', RowForm::kTsv), std::pair(',', RowForm::kCsv), std::pair(';', RowForm::kCsv)}) {
    if (line.find(separator) == std::string_view::npos) continue;
    for (size_t at = 0; at <= line.size();) {
      const size_t end = std::min(line.find(separator, at), line.size());
      if (std::find(names.begin(), names.end(), name_of_cell(line.substr(at, end - at))) != names.end()) return form;
      at = end + 1;
    }
  }
  return std::nullopt;
}

// Whether the line is a word with its tag, perhaps with columns between them, or what CoNLL files begin with.
bool is_conll(std::string_view line) {
  constexpr std::string_view kSpace = " \t\r";
  if (line.starts_with("-DOCSTART-")) return true;
  line = line.substr(0, line.find_last_not_of(kSpace) + 1);
  const size_t begin = line.find_last_of(kSpace);
  if (begin == std::string_view::npos || line.find_first_not_of(kSpace) >= begin) return false;
  const std::string_view tag = line.substr(begin + 1);
  constexpr std::string_view kMarks = "BIESLU";
  return tag == "O" || (tag.size() > 2 && tag[1] == '-' && kMarks.find(tag.front()) != std::string_view::npos);
}

RowForm guess_form(const FormRules& rules, const Names& names, ByteSource& source, bool has_ending) {
  const std::string line(source.peek_line(LineReader::kMaxLineBytes));
  const std::optional<RowForm> json = json_form(line);
  std::optional<RowForm> guess = json ? json : table_form(line, names);
  if (!guess && rules.has_conll && is_conll(line)) guess = RowForm::kConll;
  if (!guess) return RowForm::kText;
  const bool is_followed = json && !has_ending;
  if (rules.on_guess) rules.on_guess({source.name(), *guess, is_followed});
  return is_followed ? *guess : RowForm::kText;
}

// JSON under the other one's ending: rows in a .json, an array in a .jsonl. A list of texts in one line is a row.
RowForm json_of_first_line(RowForm form, ByteSource& source) {
  const std::string line(source.peek_line(LineReader::kMaxLineBytes));
  const std::optional<RowForm> guess = json_form(line);
  if (!guess || *guess == form) return form;
  // In a .jsonl an object that its line does not end is a broken row.
  const bool is_row = form == RowForm::kJsonl &&
                      (line.find('[') > line.find('{') || (line.find('{') == std::string::npos && is_json(line)));
  return is_row ? form : *guess;
}

}  // namespace

RowForm find_row_form(const FormRules& rules, const Names& names, ByteSource& source) {
  if (rules.requested) return *rules.requested;
  const std::optional<RowForm> form = form_of_ending(source.name());
  if (form == RowForm::kConll && !rules.has_conll) {
    throw Error(ErrorCode::kUsage, {{.where = source.name(),
                                     .message = "expected text, tsv, csv, jsonl or json, got CoNLL columns",
                                     .remedies = {{"{} reads its lines as texts", "form", "text"}}}});
  }
  if (form == RowForm::kJson || form == RowForm::kJsonl) return json_of_first_line(*form, source);
  if (form && form != RowForm::kText) return *form;
  return guess_form(rules, names, source, form.has_value());
}

}  // namespace deberta
