// Texts with entities, as JSON objects have them, in one of three forms:
//   {"text": "Ada was in London.", "entities": [{"start": 0, "end": 3, "label": "person"}, ...]}   in characters
//   {"tokenized_text": ["Ada", "was", ...], "ner": [[0, 0, "person"], ...]}   in words, the last one included (GLiNER)
//   {"tokens": ["Ada", "was", ...], "ner_tags": ["B-person", "O", ...]}       a tag for each word
// Words become a text with a space between them.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "deberta/error.h"

namespace deberta {

// A part of a text, in bytes, its end excluded, with a label.
struct LabelledSpan {
  size_t begin = 0;
  size_t end = 0;
  std::string label;
  bool operator==(const LabelledSpan&) const = default;
};

struct EntityRow {
  std::string where;
  std::string text = {};                    // valid UTF-8
  std::vector<LabelledSpan> entities = {};  // by begin, end and label; each once
  // The only labels that the text has been searched for, besides those of its entities; none: all labels of the files.
  std::optional<std::vector<std::string>> labels = {};
  // Of the third form, in place of entities: which tags begin one shows only in the tags of all rows.
  std::vector<std::string> words = {}, tags = {};
  std::optional<Error> error = {};
};

// The words with a space between them.
std::string join_words(const std::vector<std::string>& words);

// Sorts them, and leaves out copies.
void order_entities(std::vector<LabelledSpan>& entities);

// From the object of a row. A span ends without the white space around it. Throws kInput: a row of another form, spans
// that are not in the text, labels that are no texts.
EntityRow read_entity_row(const Json& row, const std::string& where);

}  // namespace deberta
