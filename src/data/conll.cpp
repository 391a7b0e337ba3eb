// Lines to tokens; the first thing wrong in a sentence is its error.
#include "data/conll.h"

#include <fmt/format.h>

#include <algorithm>

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
    refuse(fmt::format("expected a word and its tag, in {} to {} columns separated by blanks, got {}",
                       ConllReader::kMinColumns, ConllReader::kMaxColumns, columns));
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

// A tag of entities, such as O, B-PER or i_loc.
bool is_tag(std::string_view cell) {
  constexpr std::string_view kPrefixes = "BIESLUbieslu";
  return cell == "O" ||
         (cell.size() > 2 && kPrefixes.find(cell[0]) != std::string_view::npos && (cell[1] == '-' || cell[1] == '_'));
}

ConllReader::Shape shape_of(std::string_view line) {
  std::vector<std::string> cells;
  if (line.size() <= ConllReader::kMaxSentenceBytes / 2) split(line, cells);
  return {cells.size(), line.find('\t') != std::string_view::npos, !cells.empty() && is_tag(cells.back())};
}

bool opens_document(std::string_view comment) {
  comment.remove_prefix(std::min(comment.find_first_not_of("# \t"), comment.size()));
  return comment.starts_with(kDocumentStart) || comment.starts_with("newdoc");
}

enum class Number { kNone, kToken, kOther };  // kOther: a range of tokens or an empty node

Number number_kind(std::string_view cell) {
  const size_t end = std::min(cell.find_first_not_of("0123456789"), cell.size());
  if (end == 0) return Number::kNone;
  if (end == cell.size()) return Number::kToken;
  const std::string_view rest = cell.substr(end + 1);
  const bool is_second = !rest.empty() && rest.find_first_not_of("0123456789") == std::string_view::npos;
  return is_second && (cell[end] == '-' || cell[end] == '.') ? Number::kOther : Number::kNone;
}

// Whether the first cells count the tokens: 1, 2, ..., with ranges and empty nodes between them.
bool counts_tokens(const ConllSentence& sentence, size_t& tokens) {
  tokens = 0;
  for (size_t i = 0; i < sentence.tokens(); ++i) {
    const Number kind = number_kind(sentence.cell(i, 0));
    if (kind == Number::kNone) return false;
    if (kind == Number::kToken && sentence.cell(i, 0) != std::to_string(++tokens)) return false;
  }
  return tokens > 0;
}

bool has_numbers_in_front(const ConllSentence& sentence) {
  for (size_t i = 0; i < sentence.tokens(); ++i) {
    if (number_kind(sentence.cell(i, 0)) == Number::kNone) return false;
  }
  return true;
}

void refuse(ConllSentence& sentence, const Error& error) {
  sentence.error = error;
  sentence.cells.clear();
  sentence.columns = 0;
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

// Whether a line that begins with # before a sentence is a token: it has the same columns as the sentence's first other
// line, or as the sentence before, and a tag where that has one. Where neither is known, as at the start of a file: a
// tag.
bool ConllReader::is_token(const TextLine& comment) const {
  const Shape shape = shape_of(comment.text);
  if (opens_document(comment.text) || has_numbers_.value_or(false)) return false;
  if (shape_.columns == 0) return shape.has_tag && shape.columns >= kMinColumns && shape.columns <= kMaxColumns;
  return shape.columns == shape_.columns && shape.has_tabs == shape_.has_tabs && (shape.has_tag || !shape_.has_tag);
}

// Comments that look like the sentence's first token, as read so far, are tokens; others are left out.
void ConllReader::take_comments(ConllSentence& sentence) {
  has_comments_ = false;
  for (const TextLine& comment : std::exchange(comments_, {})) {
    if (is_token(comment)) {
      if (sentence.cells.empty()) sentence.where = comment.where;
      add_token(comment, sentence);
    } else {
      has_comments_ = true;
      begins_document_ = begins_document_ || opens_document(comment.text);
    }
  }
}

void ConllReader::add_line(const TextLine& line, ConllSentence& sentence) {
  if (sentence.cells.empty()) {
    shape_ = shape_of(line.text);
    take_comments(sentence);
    sentence.begins_document = sentence.begins_document || std::exchange(begins_document_, false);
  }
  if (shape_.has_tabs && line.text.find('\t') == std::string::npos)
    throw Error(ErrorCode::kInput, line.where,
                "expected columns separated by tabs as in the previous line, got no tab");
  add_token(line, sentence);
}

// Leaves out the column that counts the tokens.
void ConllReader::leave_out_numbers(ConllSentence& sentence) {
  std::vector<std::string> cells;
  for (size_t i = 0; i < sentence.tokens(); ++i) {
    if (number_kind(sentence.cell(i, 0)) == Number::kOther) continue;
    for (size_t column = 1; column < sentence.columns; ++column) cells.push_back(sentence.cell(i, column));
  }
  sentence.cells = std::move(cells);
  --sentence.columns;
}

void ConllReader::finish(ConllSentence& sentence) {
  if (sentence.error || sentence.cells.empty()) return;
  constexpr size_t kConllUColumns = 10;
  size_t tokens = 0;
  const bool may_count = shape_.has_tabs && sentence.columns > kMinColumns;
  const bool counts = may_count && counts_tokens(sentence, tokens);
  const bool is_conllu = may_count && sentence.columns == kConllUColumns;
  const bool miscounts = is_conllu && !counts && has_numbers_in_front(sentence);
  const bool tells = !counts || tokens > 1 || is_conllu || has_comments_;
  if (!has_numbers_ && tells && !miscounts) has_numbers_ = counts;
  if (!miscounts && has_numbers_ && !*has_numbers_) return;
  if (has_numbers_ && counts) return leave_out_numbers(sentence);
  const std::string_view message =
      miscounts ? "expected the numbers 1, 2, ... of the tokens in the first column, got others"
      : has_numbers_
          ? "expected the numbers 1, 2, ... of the tokens in the first column, as in the sentences before"
          : "expected a word, got 1, which may be the number of the token; begin the file with a sentence of "
            "several tokens, or leave out the column of numbers";
  refuse(sentence, Error(ErrorCode::kInput, sentence.where, std::string(message)));
}

// A block of nothing but lines that begin with #.
bool ConllReader::comments_are_sentence() const {
  const auto looks_so = [this](const TextLine& line) { return is_token(line); };
  return !comments_.empty() && std::all_of(comments_.begin(), comments_.end(), looks_so);
}

void ConllReader::take_tokens(ConllSentence& sentence) {
  sentence.where = comments_.front().where;
  sentence.begins_document = std::exchange(begins_document_, false);
  if (shape_.columns == 0) shape_ = shape_of(comments_.front().text);
  try {
    for (const TextLine& line : std::exchange(comments_, {})) add_token(line, sentence);
  } catch (const Error& error) {
    refuse(sentence, error);
  }
}

bool ConllReader::next(ConllSentence& sentence) {
  sentence = {};
  comments_.clear();
  size_t bytes = 0;
  TextLine line;
  while (read_text_line(lines_, line)) {
    const bool has_tokens = !sentence.where.empty();
    if (!line.error && is_blank(line.text)) {
      if (has_tokens) break;
      if (comments_are_sentence()) {
        take_tokens(sentence);
        break;
      }
      for (const TextLine& comment : comments_) begins_document_ = begins_document_ || opens_document(comment.text);
      comments_.clear();
      bytes = 0;
      continue;
    }
    if (!is_json_) is_json_ = !line.error && is_json_object(line.text);
    if (*is_json_) {
      sentence.where = line.where;
      try {
        if (line.error) throw *line.error;
        read_json(line, sentence);
      } catch (const Error& error) {
        refuse(sentence, error);
      }
      return true;
    }
    if (!line.error && line.text.starts_with(kDocumentStart)) {
      begins_document_ = true;
      if (has_tokens) break;
      continue;
    }
    bytes += line.text.size();
    if (!line.error && !has_tokens && line.text.starts_with('#') && bytes <= kMaxSentenceBytes &&
        comments_.size() < kMaxComments) {
      comments_.push_back(line);
      continue;
    }
    if (!has_tokens) {
      sentence.where = line.where;
      sentence.begins_document = std::exchange(begins_document_, false);
    }
    if (sentence.error) continue;
    try {
      if (line.error) throw *line.error;
      if (bytes > kMaxSentenceBytes)
        throw Error(ErrorCode::kTooLarge, line.where,
                    fmt::format("expected a sentence of at most {} bytes", kMaxSentenceBytes));
      add_line(line, sentence);
    } catch (const Error& error) {
      refuse(sentence, error);
    }
  }
  if (sentence.where.empty() && comments_are_sentence()) take_tokens(sentence);
  finish(sentence);
  return !sentence.where.empty();
}

}  // namespace deberta
