// All reports of a run, written into its folder.
#pragma once
#include <string>
#include <vector>

namespace deberta::train {

struct WrittenReports {
  std::vector<std::string> files;  // names in the folder
  std::vector<std::string> notes;  // for people: files that were kept, parts that are damaged
};

// Files in a model's folder that describe its run. A model that is trained further from there gets its own reports.
std::vector<std::string> report_names();

enum class EventFiles { kReplace, kKeep };

// run.html; tb/ unless kept; of a finished run also README.md (unless a person wrote or changed it),
// train_results.json, eval_results.json and trainer_state.json. Each file is replaced as a whole. Throws what
// load_run_record() throws, and kFileWrite.
WrittenReports write_reports(const std::string& folder, EventFiles event_files);

// The same for a folder that a run may be writing to: then it writes run.html alone, and notes that. `others`: folders
// of runs that run.html sets beside this one; they are only read.
WrittenReports rebuild_reports(const std::string& folder, const std::vector<std::string>& others = {});

}  // namespace deberta::train
