// Halves and doubles.
#include "rows/row_parts.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace deberta {

Error with_place(const Error& error, const Row& row) {
  if (error.where() == row.where) return error;
  std::vector<Problem> problems = error.problems();
  for (Problem& problem : problems) problem.source = row.where;
  return {error.code(), std::move(problems)};
}

void answer_parts(size_t rows, const std::function<void(size_t first, size_t count)>& answer,
                  const std::function<void(size_t row, const Error& error)>& fail) {
  size_t count = rows;
  for (size_t first = 0; first < rows;) {
    count = std::min(count, rows - first);
    try {
      answer(first, count);
      first += count;
      count *= 2;
    } catch (const Error& error) {
      if (count == 1) fail(first++, error);
      count = std::max<size_t>(1, count / 2);
    }
  }
}

}  // namespace deberta
