// SQuAD, versions 1.1 and 2.0: questions on contexts, answers by their position in code points. Read as a whole. Either
// the published document, or rows with a context, a question and answers each, as the hub's datasets have them: JSON
// Lines, an array, or an array under `data`; their answers may be an object of two lists, `text` and `answer_start`.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "data/byte_source.h"
#include "deberta/error.h"

namespace deberta {

struct SquadAnswer {
  std::string text;
  size_t begin_char = 0;  // code points of the context
  size_t begin_byte = 0;
};

struct SquadQuestion {
  std::string id;
  std::string question;
  size_t context = 0;  // index in SquadFile::contexts
  bool is_impossible = false;
  bool is_labelled = false;          // the file has answers, or says that there is none
  std::vector<SquadAnswer> answers;  // each stands at its place in the context
};

struct SquadFile {
  std::string version;                // "1.1", "v2.0", ... as the file says; may be empty
  std::vector<std::string> titles;    // by context
  std::vector<std::string> contexts;  // one a paragraph
  std::vector<SquadQuestion> questions;
  std::vector<Problem> skipped;  // questions that are wrong in themselves and left out: `name:
                                 // data/0/paragraphs/1/qas/2`, `name: data/2`, `name:3`
  bool is_repaired = false;      // held bytes that are not UTF-8
};

constexpr size_t kMaxSquadBytes = size_t{128} << 20;
constexpr size_t kMaxSquadValues = 4000000;

// A question is skipped if a part of it is missing or of a wrong type, if its id is repeated, if an answer is not the
// text at its position, if it is impossible but has an answer, or is marked as possible but has none.
// Questions that follow each other with the same context share it. Throws kJson, kTooLarge, kInput for a file of
// another shape, and what ByteSource::read throws.
SquadFile read_squad(ByteSource& source);

}  // namespace deberta
