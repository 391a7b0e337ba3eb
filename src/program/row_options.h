// The rows that a verb's options and arguments name.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "options/verb_options.h"
#include "rows/read_ahead.h"
#include "rows/row_files.h"

namespace deberta::program {

// What is read, and from where.
struct RowReading {
  std::string verb;                // for messages
  std::vector<std::string> texts;  // from the command line's arguments
  std::vector<std::string> files;  // else these, one after the other; none: standard input
  RowSettings settings;
  bool keeps_texts = false;                 // --keep all, given, in csv and tsv
  std::optional<size_t> batch_tokens = {};  // per group; none: as many as ReadAhead takes
  RowShape shape{{"text", "text_pair"}};
  bool has_conll = false;  // CoNLL columns are read too
  std::string query = {};  // not empty: each row is a document, and all of them are one row
  // With --files, before the rows of each: what answers carry over from row to row begins anew.
  std::function<void()> begin_file = [] {};
};
// The arguments or --input of a verb, as rows of one text each.
RowReading reading_of(const RowVerb& options);
// A shape whose rows are pairs of texts.
RowShape pair_shape();

// Whether --keep all was given and the output is csv or tsv.
bool keeps_all_in_table(const RowVerb& options);

// What --keep names, without duplicates; none if it says all or none.
Names kept_by_name(const RowSettings& settings);

// Throws kUsage, and what open_row_file() throws. A guessed format is noted on standard error.
std::unique_ptr<RowSource> open_rows(const RowReading& reading, const std::function<bool()>& is_stopped);

// Reads ahead until Ctrl-C, in groups of `batch_tokens`.
ReadAhead read_rows(std::optional<size_t> batch_tokens, EncodeRow encode, const OpenRows& open);
ReadAhead read_rows(const RowReading& reading, EncodeRow encode);

}  // namespace deberta::program
