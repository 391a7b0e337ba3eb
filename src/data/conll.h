// Sentences with a label for each word. CoNLL columns: one token per line, columns separated by white space, a blank
// line after each sentence, as .conll and .conllu files have them. Or JSON Lines: an object for each sentence, with its
// words and labels as lists.
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
  std::string where;  // "name:number" of its first line
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
  static constexpr size_t kMaxComments = 10000;                           // before a sentence
  static constexpr size_t kMaxTokens = 100000;                            // in a sentence
  static constexpr size_t kMaxSentenceBytes = LineReader::kMaxLineBytes;  // all its lines together

  // False at the end. Lines of a file whose first one is a JSON object are sentences of their own: words under `tokens`
  // or `words`, labels under `ner_tags`, `tags` or `labels`, as many, all of them texts. Else columns are separated by
  // tabs if a line has any, else by spaces, and every line of a sentence has the same number.
  // Lines that begin with # and stand before a sentence are comments, unless they have the columns of its tokens, and a
  // tag (O, B-PER) in the last where those have one; at the start of a file such a tag alone makes them tokens. Two
  // names open a document (`# newdoc`, `# -DOCSTART-`). Where the first sentence that tells counts its tokens in the
  // first column (CoNLL-U: 1, 2, ...; lines of tabs of three columns or more), so must all others: that column is left
  // out, as are lines of ranges and empty nodes (3-4, 8.1). A sentence of one token tells with ten columns, or with a
  // comment before it. After a sentence with an error the reader continues after its blank line. Throws what
  // LineReader::next throws.
  bool next(ConllSentence& sentence);

  const LineReader& lines() const { return lines_; }

  struct Shape {  // of one line
    size_t columns = 0;
    bool has_tabs = false;
    bool has_tag = false;  // the last cell is a tag of entities, such as O or B-PER
  };

 private:
  void read_json(const TextLine& line, ConllSentence& sentence);
  void add_line(const TextLine& line, ConllSentence& sentence);
  void take_comments(ConllSentence& sentence);
  bool is_token(const TextLine& comment) const;
  bool comments_are_sentence() const;
  void take_tokens(ConllSentence& sentence);
  void leave_out_numbers(ConllSentence& sentence);
  void finish(ConllSentence& sentence);

  LineReader lines_;
  bool begins_document_ = false;
  std::optional<bool> is_json_;      // once there was a line
  std::optional<bool> has_numbers_;  // once there was a sentence that tells
  Shape shape_;                      // shape of the first line of this sentence, or of the one before
  bool has_comments_ = false;
  std::vector<TextLine> comments_;  // lines before the first token that begin with #
};

}  // namespace deberta
