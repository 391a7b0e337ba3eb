// Sentences with a label for each word. CoNLL columns: one token per line, columns separated by white space, a blank
// line after each sentence. Or JSON Lines: an object for each sentence, with its words and labels as lists.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/lines.h"

namespace deberta {

struct ConllSentence {
  std::string where;  // of its first line
  size_t columns = 0;
  std::vector<std::string> cells;  // token after token, `columns` of each; the first is the word
  bool begins_document = false;    // a line -DOCSTART- stood before it
  std::optional<Error> error;      // then there are no cells: kInput, kTooLarge

  size_t tokens() const { return columns == 0 ? 0 : cells.size() / columns; }
  const std::string& cell(size_t token, size_t column) const { return cells[token * columns + column]; }
  const std::string& word(size_t token) const { return cell(token, 0); }
  const std::string& label(size_t token) const { return cell(token, columns - 1); }
};

class ConllReader {
 public:
  explicit ConllReader(LineReader lines) : lines_(std::move(lines)) {}

  static constexpr size_t kMinColumns = 2;
  static constexpr size_t kMaxColumns = 16;
  static constexpr size_t kMaxTokens = 100000;                            // of a sentence
  static constexpr size_t kMaxSentenceBytes = LineReader::kMaxLineBytes;  // of all its lines

  // False at the end. Lines of a file whose first one is a JSON object are sentences of their own: words under `tokens`
  // or `words`, labels under `ner_tags`, `tags` or `labels`, as many, all of them texts. Else columns are separated by
  // tabs if a line has any, else by spaces, and every line of a sentence has the same number. After a sentence with an
  // error the reader continues after its blank line. Throws what LineReader::next throws.
  bool next(ConllSentence& sentence);

  const LineReader& lines() const { return lines_; }

 private:
  void read_json(const TextLine& line, ConllSentence& sentence);

  LineReader lines_;
  bool begins_document_ = false;
  std::optional<bool> is_json_;  // once there was a line
};

}  // namespace deberta
