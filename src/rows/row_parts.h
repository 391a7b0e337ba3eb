// What a bad row does to its neighbours: nothing.
#pragma once
#include <cstddef>
#include <functional>

#include "deberta/error.h"
#include "rows/row.h"

namespace deberta {

// Rows that fail together are tried in ever smaller parts: answer(first, count) for parts of `rows`, in order;
// fail(row, error) for those that fail alone.
void answer_parts(size_t rows, const std::function<void(size_t first, size_t count)>& answer,
                  const std::function<void(size_t row, const Error& error)>& fail);

// The error with the row's place in front, unless it has it.
Error with_place(const Error& error, const Row& row);

}  // namespace deberta
