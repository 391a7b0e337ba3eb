// Lines to tokens; the first thing wrong in a sentence is its error.
#include "data/conll.h"

#include <fmt/format.h>

#include "data/json_members.h"
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

bool is_json_object(const std::string& line) {
  if (line[line.find_first_not_of(" \t")] != '{') return false;
  TextLine text;
  text.text = line;
  const JsonRow row = parse_json_row(std::move(text));
  return !row.error && row.value.is_object();
}

// The first list under one of these keys.
const JsonArray& list_of(const Json& object, std::initializer_list<std::string_view> keys, const std::string& where) {
  for (const std::string_view key : keys) {
    if (object.find(key) != nullptr) return array_member(object, key, where);
  }
  throw Error(ErrorCode::kInput, where,
              fmt::format("expected a list {}, got {}", fmt::join(keys, " or "), key_list(object)));
}

const std::string& text_of(const Json& value, std::string_view what, const std::string& where) {
  if (value.is_string() && !is_blank(value.as_string())) return value.as_string();
  const char* remedy =
      value.is_number() ? "; write the names of the labels, such as B-PER, in place of their numbers" : "";
  throw Error(ErrorCode::kInput, where, fmt::format("{}: expected a text, got {}{}", what, value.describe(), remedy));
}

}  // namespace

void ConllReader::read_json(const TextLine& line, ConllSentence& sentence) {
  const JsonRow row = parse_json_row(line);
  if (row.error) throw *row.error;
  if (!row.value.is_object())
    throw Error(ErrorCode::kInput, line.where, "expected an object, got " + row.value.describe());
  const JsonArray& words = list_of(row.value, {"tokens", "words"}, line.where);
  const JsonArray& labels = list_of(row.value, {"ner_tags", "tags", "labels"}, line.where);
  if (words.size() != labels.size())
    throw Error(ErrorCode::kInput, line.where,
                fmt::format("expected a label for each of the {} words, got {}", words.size(), labels.size()));
  if (words.empty() || words.size() > kMaxTokens)
    throw Error(ErrorCode::kInput, line.where, fmt::format("expected 1 to {} words, got {}", kMaxTokens, words.size()));
  sentence.columns = 2;
  for (size_t i = 0; i < words.size(); ++i) {
    sentence.cells.push_back(text_of(words[i], "word", line.where));
    sentence.cells.push_back(text_of(labels[i], "label", line.where));
  }
}

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
    if (!is_json_) is_json_ = !line.error && is_json_object(line.text);
    if (*is_json_) {
      sentence.where = line.where;
      try {
        if (line.error) throw *line.error;
        read_json(line, sentence);
      } catch (const Error& error) {
        sentence.error = error;
        sentence.cells.clear();
        sentence.columns = 0;
      }
      return true;
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
