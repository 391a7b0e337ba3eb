// The verb `report`.
#include "train/report/reports.h"

#include "deberta/error.h"
#include "options/verb_options.h"
#include "program/note.h"
#include "train/cli/verbs.h"

namespace deberta::train {

int run_report(const Options& options) {
  const ReportVerb requested(options);
  if (requested.arguments.empty()) throw Error(ErrorCode::kUsage, "report", "expected the folder of a run, got none");
  const std::string& folder = requested.arguments.front();
  const WrittenReports written = rebuild_reports(folder, requested.beside);
  for (const std::string& text : written.notes) program::note(text);
  std::string names;
  for (const std::string& name : written.files) names += (names.empty() ? "" : ", ") + name;
  program::note(folder + ": " + names);
  return 0;
}

}  // namespace deberta::train
