// Endings, and two questions about a first line: is it JSON, does it name columns.
#include "rows/row_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/json.h"
#include "data/endings.h"
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

RowForm guess_form(const FormRules& rules, const Names& names, ByteSource& source, std::string_view ending) {
  const std::string line(source.peek_line(LineReader::kMaxLineBytes));
  const std::string_view json = json_form(line);
  const std::string_view found = json.empty() ? table_form(line, names) : json;
  if (found.empty()) return RowForm::kText;
  const bool is_followed = !json.empty() && ending.empty();
  const RowForm form = parse_row_form(found).value();
  if (rules.on_guess) rules.on_guess({source.name(), form, is_followed});
  return is_followed ? form : RowForm::kText;
}

constexpr std::array<std::string_view, 6> kForms = {"text", "tsv", "csv", "jsonl", "json", "conll"};

}  // namespace

std::string_view to_string(RowForm form) {
  return kForms.at(static_cast<size_t>(form));
}

std::optional<RowForm> parse_row_form(std::string_view name) {
  const auto found = std::find(kForms.begin(), kForms.end(), name);
  if (found == kForms.end()) return std::nullopt;
  return static_cast<RowForm>(found - kForms.begin());
}

RowForm find_row_form(const FormRules& rules, const Names& names, ByteSource& source) {
  if (rules.given) return *rules.given;
  const std::string_view ending = form_of_ending(source.name());
  const std::optional<RowForm> form = parse_row_form(ending);
  if (form == RowForm::kConll && !rules.has_conll) {
    throw Error(ErrorCode::kUsage, {{.where = source.name(),
                                     .message = "expected text, tsv, csv, jsonl or json, got CoNLL columns",
                                     .remedies = {{"{} reads its lines as texts", "form", "text"}}}});
  }
  if (form && form != RowForm::kText) return *form;
  return guess_form(rules, names, source, ending);
}

}  // namespace deberta
