// The rows that a verb's options and arguments name.
#pragma once
#include <functional>
#include <memory>

#include "options/options.h"
#include "rows/read_ahead.h"
#include "rows/row_files.h"

namespace deberta::cli {

// What the verb reads from a row.
RowShape row_shape(const Options& options);

// What --keep names; none where it says all or none.
Names kept_by_name(const Options& options);

// --input-format, --input-field, --keep; what was guessed of a form is said on standard error.
RowRules row_rules(const Options& options);

// From the arguments, else the files of --input (or --calibration-data) one after the other, else standard input.
// Throws kUsage, and what open_row_file() throws.
std::unique_ptr<RowSource> open_rows(const Options& options, const std::function<bool()>& is_stopped);

// Reads ahead until Ctrl-C, by groups of --batch-tokens.
ReadAhead read_rows(const Options& options, EncodeRow encode);
ReadAhead read_rows(const Options& options, EncodeRow encode, const OpenRows& open);

}  // namespace deberta::cli
