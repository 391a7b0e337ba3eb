// Sorts the rows of each group into good and bad, and counts them for the progress report.
#include "rows/row_taker.h"

#include <utility>
#include <vector>

#include "rows/row_parts.h"

namespace deberta {

void take_rows(ReadAhead& reading, const RowTaker& taker) {
  size_t number = 0, tokens = 0;
  reading.run([&](RowGroup& group) {
    std::vector<Row> rows;
    std::vector<size_t> numbers;
    for (Row& row : group.rows) {
      for (const Encoding& encoding : row.encodings) tokens += encoding.size();
      if (row.error) {
        taker.refuse(number, with_place(*row.error, row));
      } else {
        numbers.push_back(number);
        rows.push_back(std::move(row));
      }
      ++number;
    }
    answer_parts(
        rows.size(),
        [&](size_t first, size_t count) {
          taker.answer(std::span(numbers).subspan(first, count), std::span(rows).subspan(first, count));
        },
        [&](size_t row, const Error& error) { taker.refuse(numbers[row], with_place(error, rows[row])); });
    if (taker.advance) taker.advance(number, tokens, group.fraction_done);
  });
}

}  // namespace deberta
