// Runs the cells of a plan, one after the other, and writes their table. A cell's result is kept: when the same plan
// runs again, after a break or with a form more, only the cells that are not finished run. Knows no options: the caller
// starts the verbs and interprets their options.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "train/ablation/cell_runs.h"
#include "train/ablation/plan.h"
#include "train/ablation/plan_checks.h"

namespace deberta::train {

struct AblationSettings {
  std::string output;        // folder of the runs, their results and the tables
  std::string results = {};  // another folder where results are kept and looked for; empty: none
  bool tables_only = false;  // tables of the existing results; nothing runs
};

// A run in a process of its own.
struct CellRun {
  std::string verb;                       // pretrain or finetune
  std::string options;                    // a file: {VERB: {NAME: value}}
  std::string folder = {};                // the run's folder; empty: the run ends before its first step
  std::string log = {};                   // a file to which what it prints is added
  std::vector<std::string> corpora = {};  // for pretrain
  std::string model = {}, fold = {};      // for finetune; no fold: empty
};
struct RunEnd {
  int status = 0;         // the run's exit code; 128 + the signal that ended it
  std::string last_line;  // the last line that the run printed
};

struct AblationHooks {
  CheckOptions check_options;
  std::function<PretrainingFacts(const JsonObject& options)> pretraining_facts;  // for checked options of pretrain
  // Follows the run to its end; `on_progress` gets the part that it has done of its present phase.
  std::function<RunEnd(const CellRun& run, const std::function<void(double fraction)>& on_progress)> run;
  // Cells that are done, and the part of all of them. on_begin: what is done then was done before.
  std::function<void(size_t done, double fraction)> on_begin, on_progress;
  std::function<void(const std::string&)> on_note;
  std::function<bool()> is_stopped;
};

// False once stopped. Throws what check_plan() and check_folder() throw before anything is written, kFileWrite for a
// folder that another process writes to, kUsage with the problems of all forms whose options do not fit together, and
// kInput where a run fails.
bool run_ablation(const PlanFile& file, const AblationSettings& settings, const AblationHooks& hooks);

}  // namespace deberta::train
