// A plan of runs: forms, each pre-trained with several seeds and fine-tuned for several tasks.
//   {"corpora": ["a.txt.xz"], "pretrain": {options}, "finetune": {options},
//    "tasks": {"cola": {"metric": "matthews_correlation", options}},
//    "seeds": [1, 2, 3], "reference": "full",
//    "forms": {"full": {}, "no c2p": {"form": "-C2P", "seeds": [1], "pretrain": {options}}}}
// A task may have "folds": 5 in place of files to evaluate on: it is then fine-tuned once for each fold.
// With "model": "DIR" in place of corpora and pretrain the forms differ in fine-tuning alone; "finetune" of a form are
// options of all its fine-tunings. Paths in it are relative to the folder of its file.
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace deberta::train {

struct PlanTask {
  std::string name;
  std::string metric;  // name of the metric that is evaluated, without eval_
  JsonObject options;  // options of finetune
  size_t folds = 0;    // folds of its training files, each held out in a run of its own; 0: one run, with other files
};

struct PlanForm {
  std::string name;
  std::string about;    // a description for the table
  JsonObject options;   // options of pretrain, those of the plan included
  JsonObject finetune;  // options of every fine-tuning, set on top of those of the tasks
  std::vector<int64_t> seeds;
};

struct Plan {
  std::string model;  // fine-tuned by every cell; empty: each pre-trains its own
  std::vector<std::string> corpora;
  std::vector<PlanTask> tasks;
  std::vector<PlanForm> forms;
  std::string reference;  // the form that others are compared with
};

// One run of a form with its fine-tunings.
struct Cell {
  std::string name;  // name of its folder: "no-c2p-seed2"
  std::string form;
  int64_t seed = 0;
  JsonObject pretrain;                                       // options
  std::vector<std::pair<std::string, JsonObject>> finetune;  // options by task
  std::string hash;  // hash of the corpora or the model, and of all options; a new one is another cell
};

// Throws kUsage with every problem of the plan.
Plan parse_plan(const Json& document, const std::string& where);
std::vector<Cell> cells_of(const Plan& plan);

constexpr const char* kPlanName = "plan.json";  // name in the folder of its runs

// A plan's file and its contents.
struct PlanFile {
  std::string path;
  Json document;
  Plan plan;
  std::vector<Cell> cells;

  std::string from_root(const std::string& name) const;  // a path of the plan, as it is from here
};
// Throws what reading and parse_plan() throw.
PlanFile load_plan(const std::string& path);

}  // namespace deberta::train
