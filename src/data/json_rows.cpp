// Lines to base/json.h, with the place of an error in the file.
#include "data/json_rows.h"

#include <utility>

#include "base/utf8.h"

namespace deberta {
namespace {

// The parser counts within the row: its "line 1" would be taken for the file's.
Error with_column_only(const Error& error) {
  constexpr std::string_view kLine = "line 1, ";
  std::string message = error.problems().front().message;
  if (const size_t at = message.find(kLine); at != std::string::npos) message.erase(at, kLine.size());
  return Error(error.code(), error.problems().front().where, std::move(message));
}

}  // namespace

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

JsonRow parse_json_row(TextLine line) {
  JsonRow row{std::move(line.where), nullptr, std::move(line.error)};
  if (row.error) return row;
  try {
    // Repaired text may be three times as long.
    row.value =
        parse_json(line.text, row.where, {.max_bytes = 3 * LineReader::kMaxLineBytes, .max_depth = kMaxJsonRowDepth});
  } catch (const Error& error) {
    row.error = with_column_only(error);
  }
  return row;
}

bool JsonLineReader::next(JsonRow& row) {
  for (TextLine line; read_text_line(lines_, line);) {
    if (!line.error && is_blank(line.text)) {
      ++blank_lines_;
      continue;
    }
    row = parse_json_row(std::move(line));
    return true;
  }
  return false;
}

Json read_json_document(ByteSource& source, const JsonLimits& limits, bool* is_repaired) {
  std::string text = read_rest(source, limits.max_bytes);
  if (!is_valid_utf8(text)) {
    text = replace_invalid_utf8(text);
    if (is_repaired != nullptr) *is_repaired = true;
  }
  JsonLimits repaired = limits;
  repaired.max_bytes = 3 * limits.max_bytes;
  return parse_json(text, source.name(), repaired);
}

}  // namespace deberta
