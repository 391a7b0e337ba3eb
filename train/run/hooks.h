// What a run reports to its caller, and what it asks of it. The run itself never prints and knows no signals.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace deberta::train {

using Metrics = std::vector<std::pair<std::string, double>>;
// What a reader of the reports wants to know of data and origin, by name.
using Details = std::vector<std::pair<std::string, std::string>>;

// Where a run is. kReading: hashing and tokenising the corpora; bytes are counted. kTraining: steps are. kEvaluating:
// lines.
enum class Phase { kReading, kTraining, kEvaluating, kSaving };

struct RunProgress {
  Phase phase = Phase::kReading;
  uint64_t done = 0;
  uint64_t tokens = 0;
  std::optional<double> fraction = std::nullopt;  // done part of the phase; none: it has just begun, or takes no time
};

enum class StopRequest {
  kNone,
  kSave,  // save a checkpoint and go on
  kStop,  // save a checkpoint and end
};

struct RunHooks {
  std::function<void(const RunProgress&)> on_progress = [](const RunProgress&) {};
  std::function<void(int64_t step, const Metrics&)> on_log = [](int64_t, const Metrics&) {};  // a line of the log
  std::function<void(const std::string&)> on_note = [](const std::string&) {};                // a note to the user
  // The same about the weights that a run begins with: run() keeps it from runs that go on, which read others.
  std::function<void(const std::string&)> on_beginning = [](const std::string&) {};
  // Polled in every phase and between micro-batches. kSave is answered once.
  std::function<StopRequest()> stop = [] { return StopRequest::kNone; };
};

}  // namespace deberta::train
