// Lines to tokens; the first thing wrong in a sentence is its error.
#include "data/conll.h"

#include <fmt/format.h>

#include "data/json_rows.h"

namespace deberta {
namespace {

constexpr std::string_view kDocumentStart = "-DOCSTART-";

// Appends the cells of a line; a line with tabs may not have an empty one.
void split(std::string_view line, std::vector<std::string>& cells) {
  const bool has_tabs = line.find('\t') != std::string_view::npos;
  const char separator = has_tabs ? '\t' : ' ';
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(separator, begin), line.size());
    if (has_tabs || end > begin) cells.emplace_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
}

void add_token(const TextLine& line, ConllSentence& sentence) {
  const auto refuse = [&](const std::string& message) { throw Error(ErrorCode::kInput, line.where, message); };
  const size_t before = sentence.cells.size();
  // A line of many cells is refused here, before it is split.
  if (line.text.size() > ConllReader::kMaxSentenceBytes / 2)
    refuse("expected a token, got a line of several megabytes");
  split(line.text, sentence.cells);
  const size_t columns = sentence.cells.size() - before;
  if (columns < ConllReader::kMinColumns || columns > ConllReader::kMaxColumns) {
    refuse(
        fmt::format("expected {} to {} columns, got {}", ConllReader::kMinColumns, ConllReader::kMaxColumns, columns));
  }
  if (sentence.columns != 0 && columns != sentence.columns)
    refuse(fmt::format("expected {} columns as in the previous line, got {}", sentence.columns, columns));
  sentence.columns = columns;
  for (size_t i = before; i < sentence.cells.size(); ++i) {
    if (is_blank(sentence.cells[i])) refuse(fmt::format("column {} is empty", i - before + 1));
  }
  if (sentence.tokens() > ConllReader::kMaxTokens)
    refuse(fmt::format("expected a sentence of at most {} tokens; is the blank line after it missing?",
                       ConllReader::kMaxTokens));
}

}  // namespace

bool ConllReader::next(ConllSentence& sentence) {
  sentence = {};
  size_t bytes = 0;
  TextLine line;
  while (read_text_line(lines_, line)) {
    const bool has_tokens = !sentence.where.empty();
    if (!line.error && is_blank(line.text)) {
      if (has_tokens) break;
      continue;
    }
    if (!line.error && line.text.starts_with(kDocumentStart)) {
      begins_document_ = true;
      if (has_tokens) break;
      continue;
    }
    if (!has_tokens) {
      sentence.where = line.where;
      sentence.begins_document = std::exchange(begins_document_, false);
    }
    if (sentence.error) continue;
    try {
      if (line.error) throw *line.error;
      bytes += line.text.size();
      if (bytes > kMaxSentenceBytes)
        throw Error(ErrorCode::kTooLarge, line.where,
                    fmt::format("expected a sentence of at most {} bytes", kMaxSentenceBytes));
      add_token(line, sentence);
    } catch (const Error& error) {
      sentence.error = error;
      sentence.cells.clear();
      sentence.columns = 0;
    }
  }
  return !sentence.where.empty();
}

}  // namespace deberta
