// What `eval` reports: metrics as a table, tsv or JSON, and all_results.json with the names that the Hugging Face
// scripts give them.
#pragma once
#include <string>
#include <vector>

#include "eval/answered_rows.h"
#include "options/verb_options.h"
#include "program/answers.h"

namespace deberta::cli {

// Notes on standard error: what the answers leave out.
void print_answer_notes(const EncodingSettings& encoding, const EvalResult& result);

// To standard output or -o; notes to standard error.
void print_result(const OutputSettings& output, const EvalResult& result);

// Throws what write_results() would throw, but before anything is computed.
void check_results(const std::string& folder);

// DIR/all_results.json: an existing object keeps its keys, except that those of this result are replaced. Creates DIR.
void write_results(const std::string& folder, const EvalResult& result);

// The table of tasks.
void print_tasks(const OutputSettings& output);

// The results that were published, with their sources; of one task, unless `task` is empty. Draws them to `chart_path`,
// unless that is empty. Throws kUsage for a task of which nothing is published.
void print_published(const OutputSettings& output, const std::string& task, const std::string& chart_path);

// The results in DIR/all_results.json and DIR/*/all_results.json, one line per task, and the averages of GLUE and
// SuperGLUE.
void print_averages(const OutputSettings& output, const std::string& folder);

}  // namespace deberta::cli
