// What a run writes as it goes along: metrics.jsonl, the same for TensorBoard in tb/, events.jsonl. A disk that refuses
// a line costs a warning; the step goes on.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "train/report/event_file.h"
#include "train/run/hooks.h"
#include "train/state/event_log.h"
#include "train/state/metrics_log.h"
#include "train/state/run_folder.h"

namespace deberta::train {

class Journal {
 public:
  // `step`: done so far; what the log has of later ones is cut off. A folder without a checkpoint begins anew. Throws
  // kFileWrite where the log of metrics cannot be opened.
  Journal(const RunFolder& folder, int64_t step);

  void write(int64_t step, const Metrics& metrics);
  void note(RunEvent event);  // sets its time to now
  // What was written survives a crash of the machine. Throws kFileWrite.
  void sync() { metrics_.sync(); }

 private:
  void show(const LoggedLine& line);

  std::string folder_;
  MetricsLog metrics_;
  std::unique_ptr<EventLog> events_;       // none: the file could not be opened
  std::unique_ptr<EventFile> event_file_;  // none: made anew from the log with the next line
};

}  // namespace deberta::train
