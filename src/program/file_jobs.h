// --files: many files, each answered into a file of its own, by any number of processes (src/jobs).
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "base/file.h"
#include "options/options.h"
#include "options/verb_options.h"
#include "program/row_progress.h"

namespace deberta::program {

// What the options ask for; none without --files. `model`: its name, empty where the verb opens none. Throws kUsage for
// options that contradict it, and for files that cannot be answered side by side; and what reading the list, the
// model's files and those that options name throws.
std::optional<PlannedJob> plan_job(const Options& options, const std::string& model);

// Answers the rows of a file.
using AnswerFile = std::function<RowCounts(const std::string& path, FileWriter& out, RowProgress& progress)>;

// Returns the exit code: 1 when a file or a row failed, here or in another process; 128 + signal after Ctrl-C. `report`
// gets the counts over the files that were answered here.
int run_files(const RowVerb& options, const AnswerFile& answer, const std::function<void(const RowCounts&)>& report);

}  // namespace deberta::program
