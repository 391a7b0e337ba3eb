// The loop that all kinds of tasks share when a model answers.
#include "cli/eval_model.h"

#include <fmt/format.h>

#include <utility>

#include "decode/classification.h"
#include "options/options.h"
#include "program/answers.h"
#include "program/interrupt.h"
#include "program/progress_printer.h"
#include "program/row_options.h"
#include "rows/row_parts.h"

namespace deberta::cli {

void run_model_rows(const Options& options, const OpenRows& open, const EncodeRow& encode, const RowTaker& taker) {
  ReadAhead reading = read_rows(options, encode, open);
  ProgressPrinter progress(options, true);
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
    progress.update(number, tokens, group.fraction_done);
  });
  check_interrupted();
}

std::vector<std::string> class_names(const Pipeline& pipeline, const Options& options) {
  std::vector<std::string> names = options.list("label-map");
  if (names.empty()) names = pipeline.config.labels;
  const auto classes = static_cast<size_t>(pipeline.model.labels());
  if (names.empty()) {
    for (size_t i = 0; i < classes; ++i) names.push_back(label_name({}, i));
  }
  if (names.size() != classes)
    throw Error(ErrorCode::kTask, "--label-map",
                fmt::format("expected {} names in the model's order, got {}", classes, names.size()));
  return names;
}

}  // namespace deberta::cli
