// A run as its folder has it: everything that the reports are made from. Damaged parts are left out and listed in
// `damage`.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "deberta/config.h"
#include "train/state/event_log.h"
#include "train/state/trainer_state.h"

namespace deberta::train {

constexpr std::string_view kEvaluation = "eval_";  // prefix of the names of an evaluation's metrics

// A line of metrics.jsonl.
struct LoggedLine {
  int64_t step = 0;
  double time = 0;  // seconds since 1970; 0: the line has none
  std::vector<std::pair<std::string, double>> metrics = {};
};

struct Point {
  int64_t step = 0;
  double value = 0;  // may be NaN or infinite

  bool operator==(const Point&) const = default;
};

struct RunRecord {
  std::string folder;
  std::vector<LoggedLine> log = {};        // steps ascend
  std::vector<RunEvent> events = {};       // in the order in which they happened
  std::optional<TrainerState> state = {};  // from the newest checkpoint that has one
  std::vector<int64_t> checkpoints = {};   // their steps, newest first
  std::optional<Json> results = {};        // all_results.json, an object: the run is finished
  std::optional<ModelConfig> config = {};  // the model's at the end; for a pair the discriminator's
  std::vector<std::string> damage = {};    // a sentence for each part that could not be read

  std::string name() const;                       // the folder's name
  int64_t last_step() const;                      // in the log, a checkpoint or the results
  bool is_out_of_time() const;                    // --max-time ended it before the last step
  std::vector<std::string> metric_names() const;  // in the order in which the log has them first
  std::vector<Point> series(std::string_view metric) const;
  std::optional<double> last_value(std::string_view metric) const;
  double seconds() const;                             // in all training steps, also those before a break
  std::string option(const std::string& name) const;  // "" where the run does not have it
  const RunEvent* last_start() const;                 // the last "began" or "resumed"; nullptr: there is none
};

// The lines of a metrics.jsonl, or of a copy of it; those that are damaged are left out and listed in `damage`. Empty
// without the file.
std::vector<LoggedLine> load_log(const std::string& path, std::vector<std::string>& damage);

// Reads OUTPUT/metrics.jsonl, events.jsonl, all_results.json, config.json and the states of its checkpoints. The
// unfinished last line of a log is no damage. Throws kFileNotFound for a folder without a log and without a checkpoint,
// and kFileRead, kFileType for a log that cannot be read.
RunRecord load_run_record(const std::string& folder);

}  // namespace deberta::train
