// The loop over the files of a job, in each of its processes.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "deberta/error.h"
#include "jobs/plan.h"

namespace deberta::jobs {

struct FileCounts {
  uint64_t rows = 0, bad_rows = 0;
};

struct JobTotals {
  // Files: answered by this process, by others since it began, and before.
  uint64_t done = 0, by_others = 0, skipped = 0, failed = 0;
  uint64_t changed = 0;             // those that were done, and whose input is another now
  uint64_t rows = 0, bad_rows = 0;  // of all files that are done
  uint64_t bytes = 0;               // of the inputs that need no more work
};

struct FileJobRules {
  std::string folder;  // of the outputs; made if it is not there
  Json description;    // an object: what decides the answers
  // Writes the answers of a file. What it throws becomes the file's failure, if it is an Error.
  std::function<FileCounts(const JobFile& file, FileWriter& out)> answer;
  std::function<bool()> is_stopped = [] { return false; };
  // A file could not be answered here; `written` bytes of its answers were.
  std::function<void(const JobFile& file, const Error& error, uint64_t written)> on_failed =
      [](const JobFile&, const Error&, uint64_t) {};
  std::function<void(const JobTotals&)> on_begin = [](const JobTotals&) {};  // once it is known what was done before
  std::function<void(const JobTotals&)> on_change = [](const JobTotals&) {};
};

// Returns when every file is done or has failed, here or in another process that runs the same job, or when it is
// stopped. Throws kUsage for a folder with answers of another job, kFileWrite, and what the functions throw that is no
// Error.
JobTotals run_file_job(const std::vector<JobFile>& files, const FileJobRules& rules);

}  // namespace deberta::jobs
