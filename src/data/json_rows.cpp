// Lines to base/json.h, with the place of an error in the file.
#include "data/json_rows.h"

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

bool JsonLineReader::next(JsonRow& row) {
  TextLine line;
  for (;;) {
    if (!read_text_line(lines_, line)) return false;
    if (line.error || line.text.find_first_not_of(" \t") != std::string::npos) break;
    ++blank_lines_;
  }
  row.where = line.where;
  row.error = line.error;
  row.value = nullptr;
  if (row.error) return true;
  try {
    // Repaired text may be three times as long.
    row.value = parse_json(line.text, row.where, {.max_bytes = 3 * LineReader::kMaxLineBytes, .max_depth = kMaxDepth});
  } catch (const Error& error) {
    row.error = with_column_only(error);
  }
  return true;
}

Json read_json_document(ByteSource& source, const JsonLimits& limits) {
  std::string text = read_rest(source, limits.max_bytes);
  if (text.starts_with("\xEF\xBB\xBF")) text.erase(0, 3);
  if (!is_valid_utf8(text)) text = replace_invalid_utf8(text);
  JsonLimits repaired = limits;
  repaired.max_bytes = 3 * limits.max_bytes;
  return parse_json(text, source.name(), repaired);
}

}  // namespace deberta
