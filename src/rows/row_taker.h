// Hands rows with their numbers to one function, and bad rows to another.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "deberta/error.h"
#include "rows/read_ahead.h"
#include "rows/row.h"

namespace deberta {

// Called in the order of the groups, on a thread of its own. Rows are numbered from 0, bad ones too.
struct RowTaker {
  // None of the rows is bad. Throws when any cannot be answered; then it is called again for fewer of them.
  std::function<void(std::span<const size_t> numbers, std::span<const Row> rows)> answer;
  // The row is bad, or cannot be answered; the error names its place. Bad rows come before the others of their group.
  std::function<void(size_t number, const Error& error)> refuse;
  // After a group: rows and tokens so far, and the part of the input that has been read.
  std::function<void(size_t rows, size_t tokens, std::optional<double> fraction)> advance = {};
};

// For answers that are kept or counted by the row's number; those that are written in order need a loop that keeps the
// bad rows in their places (program/row_loop.h). Throws what reading and the functions throw.
void take_rows(ReadAhead& reading, const RowTaker& taker);

}  // namespace deberta
