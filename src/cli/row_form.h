// In which form a file of rows is: as --input-format says, else by its ending, else by its first line.
#pragma once
#include <string>

#include "data/byte_source.h"
#include "options/options.h"

namespace deberta::cli {

// "text", "tsv", "csv", "jsonl", "json" or "conll". What was found in the first line, and what looks as if it had been
// meant otherwise, is said on standard error. Throws kUsage for a form that the verb does not read, and what reading
// throws.
std::string row_form(const Options& options, ByteSource& source);

// A text that came as an argument and is the name of a file: perhaps the file was meant.
void note_file_names(const Options& options);

}  // namespace deberta::cli
