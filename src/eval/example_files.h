// Labelled files: which they are, and those of examples as one sequence.
#pragma once
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "data/examples.h"
#include "eval/row_part.h"
#include "metrics/task_table.h"
#include "rows/row.h"

namespace deberta {

// Files, and folders as the files below them, ordered by the numbers in their names; hidden ones are left out. Throws
// kUsage when none are given, kFileNotFound.
std::vector<std::string> find_labelled_files(const std::vector<std::string>& paths);

struct ExampleInput {
  std::vector<std::string> files;
  std::optional<RowForm> format = std::nullopt;  // none: by the file's name, else the task's
  std::vector<std::string> input_fields = {};    // the text, and its pair; none: the task's
  std::vector<std::string> label_fields = {};    // none: the task's; several: check_label_fields()
  std::string labels_file = {};                  // AlphaNLI: the labels, one per line
  std::string by = {};                           // a field by whose values metrics are told apart; empty: none
  std::string group_field = {};                  // without `by`: a field whose values keep rows in one part
  std::string weight_field = {};                 // field of a row's weight in training; empty: equal weights
  std::optional<RowPart> part = std::nullopt;    // none: all rows
};

// What keeps the row of an example together with others where files are split.
RowKey key_of(const TaskRow& task, const ExampleInput& input, const Example& example);

class ExampleFiles {
 public:
  // Throws kUsage for a labels file with another task or several files. `input` and `task` must outlive this object.
  ExampleFiles(const ExampleInput& input, const TaskRow& task, std::function<bool()> is_stopped);

  // Rows are numbered over all files. False at the end of the last file, and once `is_stopped` returns true. Throws
  // what ExampleReader throws.
  bool next(Example& example);

  std::optional<double> fraction_done() const;

 private:
  void open_next();
  bool next_of_all(Example& example);

  const ExampleInput& input_;
  const TaskRow& task_;
  std::function<bool()> is_stopped_;
  PartPicker picker_;
  uint64_t rows_ = 0, rows_before_ = 0;  // the last row, and that before the current file
  std::optional<ExampleReader> reader_;
  size_t opened_ = 0;
  size_t repaired_ = 0;  // lines of the current file so far
};

// The examples of all files as rows: `fill` puts what it needs from an example into its row.
using FillRow = std::function<void(ExampleFiles& files, Example example, Row& row)>;
std::unique_ptr<RowSource> example_rows(const ExampleInput& input, const TaskRow& task,
                                        const std::function<bool()>& is_stopped, FillRow fill);

}  // namespace deberta
