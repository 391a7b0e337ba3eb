// The two steps of every evaluation: labelled rows get answers, from a model or from a file; answers get metrics. In
// between, the answers can be written.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "deberta/pipeline.h"
#include "eval/eval_hooks.h"
#include "metrics/evaluation.h"
#include "metrics/task_rows.h"
#include "metrics/task_table.h"

namespace deberta {

// Opens the model that answers, when it is needed: some tasks read their labelled files first. The model lives until
// the rows are answered.
using OpenModel = std::function<const Pipeline&()>;

// Texts that were cut before the model read them.
struct CutRows {
  size_t rows = 0;
  size_t of = 0;
  size_t max_tokens = 0;
};

// The metrics of the rows with one value of a field.
struct SliceResult {
  std::string value;
  size_t rows = 0;
  std::vector<Metric> metrics = {};
};

struct EvalResult {
  const TaskRow* task = nullptr;
  std::vector<Metric> metrics = {};
  size_t rows = 0;                               // in the files, bad ones included
  size_t failed = 0;                             // rows that could not be read or answered
  std::vector<std::string> label_fields = {};    // fields searched for labels, for tasks that read them by name
  size_t unlabelled = 0;                         // without a gold answer
  size_t unanswered = 0;                         // without a prediction
  size_t samples = 0;                            // bootstrap samples
  size_t repaired = 0;                           // rows with bytes that are not UTF-8
  std::vector<std::string> repaired_files = {};  // the same, of files that are read as a whole
  CutRows cut = {};
  size_t predictions = 0;         // in the file
  size_t unused_predictions = 0;  // predictions that match no row
  JsonObject settings = {};       // settings that affect answers or define metrics, for tasks with any
  std::string by = {};            // the field of the slices; empty: there are none
  std::vector<SliceResult> slices = {};
  size_t sliced_rows = 0;    // rows that count, of which
  size_t without_slice = 0;  // have no such field

  bool has_labels() const { return failed + unlabelled < rows; }
};

struct AnsweredRows {
  EvalResult result;  // all but the metrics
  std::unique_ptr<Evaluation> evaluation;
  RowSlices slices = {};
  // In the format in which predictions are read. None: the task has no such files.
  std::function<void(FileWriter& out)> write_predictions = {};
};

struct ScoreSettings {
  size_t samples = 1000;  // bootstrap samples; 0: no intervals
  uint64_t seed = 0;
  bool needs_labels = true;  // false: files without any labels give metrics without values
};

// The result with its metrics. Throws kInput when no row counts.
EvalResult score(const AnsweredRows& rows, const ScoreSettings& settings, const EvalHooks& hooks = {});

}  // namespace deberta
