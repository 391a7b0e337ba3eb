// A run of training: steps, log, evaluations, checkpoints, the end. Whatever happens to the process, its folder holds
// checkpoints from which the same run goes on, with the same bits.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/optim/schedules.h"
#include "train/run/best.h"
#include "train/run/hooks.h"
#include "train/run/learner.h"

namespace deberta::train {

struct RunSettings {
  std::string output = {};
  std::string schedule = "warmup_linear";
  ScheduleSettings schedule_settings = {};  // `total` is the run's
  double max_norm = 1;
  uint64_t seed = 1234;

  int64_t logging_steps = 50;
  int64_t save_steps = 500;  // 0: only at the end
  size_t save_total_limit = 2;
  int64_t eval_steps = 0;                       // 0: the learner's
  std::optional<BestRule> best = std::nullopt;  // none: the last step is the result

  // The run ends after the step at which so many seconds of this process are over, as at its last step, and goes on
  // from there another time; 0: never.
  double max_seconds = 0;

  bool resumes = true;  // goes on from the newest checkpoint of `output`; false: a folder with one is refused
  // Everything that changes the mathematics, by name, as text: a run that goes on must have the same, or name what it
  // changes.
  std::map<std::string, std::string> options = {};
  std::vector<std::string> overridden = {};
  Details details = {};  // for the log of events: what the user named, and where the run takes place
};

struct RunResult {
  int64_t steps = 0;  // done, those before a resume too
  int64_t total_steps = 0;
  int64_t tokens = 0;
  bool is_finished = false;  // false: stopped, with a checkpoint
  bool is_degraded = false;  // went on from an older checkpoint than the newest
  double seconds = 0;        // duration in this process
  Metrics evaluation = {};   // metrics of the result
  int64_t best_step = 0;     // the step whose models are the result; `steps` without a BestRule
  bool is_early = false;     // ended by the patience
  // Ended by its time. The models are the best so far, and the checkpoint of the last step knows nothing of that end.
  bool is_out_of_time = false;
  // The mean loss of the last ten steps, all of this process, and that of guessing (Learner::guess_loss); none: not
  // known.
  std::optional<double> last_loss = std::nullopt, guess_loss = std::nullopt;
};

// The schedule's settings in a run of so many steps. Throws kUsage where they do not fit.
ScheduleSettings schedule_of(const RunSettings& settings, int64_t steps);

// Nothing once stopped.
using MakeLearner = std::function<std::unique_ptr<Learner>(const RunHooks& hooks)>;

// Throws kUsage (settings that cannot be, an option that differs from the checkpoint's), kFileWrite (a folder with
// other files), kNotFinite (five steps in a row), and what the learner throws.
RunResult run(const RunSettings& settings, const MakeLearner& make_learner, const RunHooks& hooks);

}  // namespace deberta::train
