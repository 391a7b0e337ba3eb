// What the kinds of tasks share in `eval`: the files, bad rows, the intervals, the end of a run.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "cli/eval_report.h"
#include "data/byte_source.h"
#include "data/predictions.h"
#include "deberta/error.h"
#include "metrics/evaluation.h"
#include "metrics/task_table.h"
#include "options/options.h"
#include "program/progress_printer.h"

namespace deberta::cli {

// A source that ends on Ctrl-C.
ByteSource open_labelled(const std::string& path);

// The file that --predictions names. Throws kUsage when it names none.
Predictions open_predictions(const Options& options);

// As --on-bad-row says: nothing, or the error thrown, with the way on.
void stop_at_bad_row(const Options& options, const Error& error);
// The same, or a line on standard error.
void report_bad_row(const Options& options, const Error& error);

// The metrics with intervals. Throws kInput when no row counts, Interrupted on Ctrl-C.
std::vector<Metric> evaluate_all(const Options& options, const Evaluation& evaluation, EvalResult& result);

// Prints, and writes what --output-dir asks for. Returns the exit code.
int finish(const Options& options, const EvalResult& result);

// One for each kind of task; the arguments are files. They return the exit code.
int eval_examples(const Options& options, const TaskRow& task);   // classes, scores, choices, entities
int eval_questions(const Options& options, const TaskRow& task);  // SQuAD
int eval_tags(const Options& options, const TaskRow& task);       // CoNLL
int eval_masked(const Options& options, const TaskRow& task);     // masked language models

}  // namespace deberta::cli
