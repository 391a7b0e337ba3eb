// metrics.jsonl: an object a line for each logged step, appended and handed to the system at once.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "train/state/appended_file.h"

namespace deberta::train {

class MetricsLog {
 public:
  // Opens or makes the file. Lines at its end of steps after `step` (the steps done so far; 0 in a new run) and one
  // that is not whole are cut off, so that no step appears twice. Throws kFileWrite, kFileRead.
  MetricsLog(const std::string& path, int64_t step);

  // {"step": ..., metrics...}; values that are not finite as trainer_state.h writes them. What a run writes again after
  // its last checkpoint, the same metrics of the same step as in the last line, is there already and not repeated:
  // false. Throws kFileWrite; nothing of the line is then there, and it is written before the next one.
  bool write(int64_t step, const std::vector<std::pair<std::string, double>>& metrics);

  // Writes what waits, and makes all lines survive a crash of the machine. Throws kFileWrite.
  void sync();

 private:
  void flush();

  std::vector<std::string> last_;  // the step and the names of the metrics of the last line
  std::string waiting_;            // whole lines that could not be written yet
  AppendedFile file_;
};

}  // namespace deberta::train
