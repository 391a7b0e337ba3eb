// The labelled files of `eval` as one row of examples.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/examples.h"
#include "metrics/task_table.h"
#include "options/options.h"
#include "rows/row.h"

namespace deberta::cli {

class ExampleFiles {
 public:
  // --input-format, --input-field, --label-field, --labels-file. The arguments are the files.
  ExampleFiles(const Options& options, const TaskRow& task, std::function<bool()> is_stopped);

  // False at the end of the last file, and once `is_stopped` says true. Throws what ExampleReader throws.
  bool next(Example& example);

  std::optional<double> fraction_done() const;

 private:
  void open_next();

  const Options& options_;
  const TaskRow& task_;
  std::function<bool()> is_stopped_;
  std::optional<ExampleReader> reader_;
  size_t opened_ = 0;
  size_t repaired_ = 0;  // lines of the file so far
};

// The examples of all files as rows: `fill` puts what it wants of an example into its row.
using FillRow = std::function<void(ExampleFiles& files, Example example, Row& row)>;
std::unique_ptr<RowSource> example_rows(const Options& options, const TaskRow& task,
                                        const std::function<bool()>& is_stopped, FillRow fill);

}  // namespace deberta::cli
