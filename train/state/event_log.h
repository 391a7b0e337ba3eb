// events.jsonl: what happened to a run, an object a line: where it began and went on, and what went wrong. The log of
// metrics is that of a run without a break; this one keeps every break.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "train/state/appended_file.h"

namespace deberta::train {

// What an event may be. One that is not in this list is read like any other.
namespace event {
constexpr const char* kBegan = "began";               // with details of what it reads and where it runs
constexpr const char* kResumed = "resumed";           // with details too
constexpr const char* kDegraded = "degraded";         // from an older checkpoint than the newest
constexpr const char* kSkippedStep = "skipped step";  // the loss or the gradient was not finite
constexpr const char* kFailedSave = "failed save";    // a checkpoint that was not written
constexpr const char* kNotEvaluated = "not evaluated";
constexpr const char* kDiverged = "diverged";
constexpr const char* kStopped = "stopped";        // by its user, with a checkpoint
constexpr const char* kOutOfTime = "out of time";  // with a checkpoint and models
constexpr const char* kFinished = "finished";
}  // namespace event

struct RunEvent {
  int64_t step = 0;  // steps done
  std::string kind;
  std::string text = {};  // for users to read; may be empty
  double time = 0;        // seconds since 1970
  std::vector<std::pair<std::string, std::string>> details = {};

  bool operator==(const RunEvent&) const = default;
};

double seconds_since_1970();

class EventLog {
 public:
  // Opens or makes the file. A line that is not whole is cut off; with `begins_anew` all of them are. Throws
  // kFileWrite.
  EventLog(const std::string& path, bool begins_anew);

  // Appends the event and hands it to the system. Throws kFileWrite; nothing of it is then there.
  void write(const RunEvent& event);

 private:
  AppendedFile file_;
};

// A line of the file; nothing for one that is none.
std::optional<RunEvent> parse_event(std::string_view line);

}  // namespace deberta::train
