// A model's answers to the rows of `eval`, group by group while the next rows are read.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "deberta/error.h"
#include "deberta/pipeline.h"
#include "metrics/task_rows.h"
#include "options/options.h"
#include "rows/read_ahead.h"
#include "rows/row.h"

namespace deberta::cli {

// What is done with rows, which are named by their numbers. Called in order, on a thread of its own.
struct RowTaker {
  // None of the rows is bad. Throws when any cannot be answered; then it is called again for fewer of them.
  std::function<void(std::span<const size_t> numbers, std::span<const Row> rows)> answer;
  // The row is bad, or cannot be answered.
  std::function<void(size_t number, const Error& error)> refuse;
};

// Runs all rows of a source, with progress. Throws what reading and `refuse` throw, and Interrupted on Ctrl-C.
void run_model_rows(const Options& options, const OpenRows& open, const EncodeRow& encode, const RowTaker& taker);

// The model's names of its classes, or --label-map; LABEL_0 and so on where there are none.
std::vector<std::string> class_names(const Pipeline& pipeline, const Options& options);

// Reads the examples of all files into `rows` and answers them with the head that the task asks for. Throws kTask for
// another head and for classes that are not the task's labels, before any row is read.
std::vector<std::optional<TaskAnswer>> answer_examples(const Options& options, const Pipeline& pipeline,
                                                       TaskRows& rows);

}  // namespace deberta::cli
