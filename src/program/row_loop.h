// The loop of every verb that answers rows: read, answer in groups, write in order, report bad rows in their place.
#pragma once
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "options/verb_options.h"
#include "program/answers.h"
#include "program/row_options.h"
#include "program/row_progress.h"
#include "rows/read_ahead.h"
#include "rows/row.h"

namespace deberta::program {

struct RowAnswer {
  Answer answer;
  size_t tokens = 0;
  size_t cut_tokens = 0;
  size_t tokens_of_nothing = 2;  // tokens of an empty text: those that the model puts around it
};

// Answers a group of rows, in order; throws when any of them cannot be answered (the loop then finds out which). Runs
// on its own thread, one group after the other.
using AnswerRows = std::function<std::vector<RowAnswer>(std::span<const Row> rows)>;

// Prints the note that `cut` of `rows` rows were cut.
using NoteCut = std::function<void(size_t cut, size_t rows)>;

// The answer with the marks of its row: what was cut, and whether there was a text.
Answer marked(const Row& row, RowAnswer answer);

// How the answers of a verb are written, by its options.
AnswerLayout answer_layout(const RowVerb& options, const AnswerColumns& columns);

// Returns the exit code: 0, 1 when a row failed, 128 + signal after Ctrl-C. Without `note_cut`, rows are cut to
// --max-tokens. With --files each of them is read in the place of the reading's texts and files (file_jobs.h).
int run_rows(const RowVerb& options, const RowReading& reading, const AnswerColumns& columns,
             const AnswerRows& answer_rows, const EncodeRow& encode = {}, const NoteCut& note_cut = {});

// Prints a note when rows were cut to `max_tokens`, which may be that of `encoding` or less.
void note_cut_rows(const EncodingSettings& encoding, size_t cut, size_t rows, size_t max_tokens);
// Prints a note when rows held bytes that are not UTF-8.
void note_repaired_rows(size_t repaired);

// Prints a note when most tokens of rows were unknown to the model.
void note_unknown_rows(size_t unknown);

// An array has no place for a row that is left out. Throws kUsage.
void refuse_skipping(const RowVerb& options);

// For output that has no place for bad rows: hands groups of rows over in order and throws at the first bad one, naming
// it. Returns 0, or 128 + signal after Ctrl-C.
int collect_rows(const RowReading& reading, ShowProgress progress,
                 const std::function<void(std::span<const Row> rows)>& take, const EncodeRow& encode);

}  // namespace deberta::program
