// The verb `ablate`: the runs of a plan, one after the other, and their table.
#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/folder.h"
#include "base/json.h"
#include "base/output_file.h"
#include "base/temporary.h"
#include "deberta/config.h"
#include "deberta/error.h"
#include "metrics/task_table.h"
#include "options/verb_options.h"
#include "program/config_file.h"
#include "program/interrupt.h"
#include "program/note.h"
#include "program/progress_printer.h"
#include "program/read_places.h"
#include "train/ablation/flops.h"
#include "train/ablation/plan.h"
#include "train/ablation/results.h"
#include "train/ablation/summary.h"
#include "train/cli/child_run.h"
#include "train/cli/verbs.h"
#include "train/report/folds.h"
#include "train/report/run_record.h"
#include "train/state/checkpoint_folder.h"
#include "train/state/run_folder.h"

namespace deberta::train {
namespace {

namespace fs = std::filesystem;

// Options whose values are paths, which a plan gives relative to its own folder.
constexpr auto kPaths =
    std::to_array<std::string_view>({"tokenizer-name", "config-name", "model", "generator-model", "teacher",
                                     "train-file", "validation-file", "labels-file", "validation-labels-file"});
// Those that `ablate` gives itself.
constexpr auto kOwn = std::to_array<std::string_view>({"output-dir", "threads", "progress", "quiet", "config"});

void write_text(const std::string& path, const std::string& text) {
  write_output_file(path, [&](FileWriter& out) { out.write(text); });
}

std::string text_of(const Json& value) {
  if (value.is_string()) return value.as_string();
  return value.dump();
}

// What is wrong with the options of a run: names, values.
void check_options(const std::string& verb, const JsonObject& given, const std::string& at, const std::string& path,
                   std::vector<Problem>& problems) {
  Options options(verb);
  for (const auto& [name, value] : given) {
    const auto add = [&](const std::string& message) {
      problems.push_back({.where = path, .message = at + "." + name + ": " + message});
    };
    if (std::find(kOwn.begin(), kOwn.end(), name) != kOwn.end()) {
      add("`ablate` gives this option itself");
      continue;
    }
    if (name == "fold") {
      add("expected \"folds\" of a task, which are all run");
      continue;
    }
    if (name == "max-time") {
      add("expected runs that come to their last step, whatever the time");
      continue;
    }
    if (!has_option(verb, name)) {
      add("unknown option of " + verb);
      continue;
    }
    try {
      options.set(name, text_of(value), "plan");
    } catch (const Error& error) {
      add(error.message());
    }
  }
}

void check_cells(const Plan& plan, const std::vector<Cell>& cells, const std::string& path) {
  std::vector<Problem> problems;
  for (const PlanForm& form : plan.forms)
    check_options("finetune", form.finetune, "forms." + form.name + ".finetune", path, problems);
  std::string last;
  for (const Cell& cell : cells) {
    if (cell.form == last) continue;  // another seed has the same options
    last = cell.form;
    check_options("pretrain", cell.pretrain, "forms." + cell.form, path, problems);
    for (const auto& [task, options] : cell.finetune) {
      if (&cell == &cells.front()) check_options("finetune", options, "tasks." + task, path, problems);
    }
  }
  if (!problems.empty()) throw Error(ErrorCode::kUsage, problems);
}

void check_metrics(const Plan& plan, const std::string& path) {
  std::vector<Problem> problems;
  for (const PlanTask& task : plan.tasks) {
    const std::vector<std::string> known = split_words(find_task(task.name).metrics);
    if (std::find(known.begin(), known.end(), task.metric) == known.end())
      problems.push_back({.where = path,
                          .message = "tasks." + task.name + ".metric: expected one of " +
                                     std::string(find_task(task.name).metrics) + ", got " + task.metric});
  }
  if (!problems.empty()) throw Error(ErrorCode::kUsage, problems);
}

// What the plan names, and where in it: corpora, a model, the files of tasks.
std::vector<std::pair<std::string, std::string>> named_files(const Plan& plan, const std::string& root) {
  std::vector<std::pair<std::string, std::string>> files;
  const auto add = [&](const std::string& at, const std::string& name) {
    files.emplace_back(at, (fs::path(root) / name).lexically_normal().string());
  };
  for (const std::string& corpus : plan.corpora) add("corpora", corpus);
  if (!plan.model.empty()) add("model", plan.model);
  for (const PlanTask& task : plan.tasks) {
    for (const auto& [name, value] : task.options) {
      if (name.ends_with("-file") && value.is_string()) add("tasks." + task.name + "." + name, value.as_string());
    }
  }
  return files;
}

// Hours later would be a bad time to find that a file is not there.
void check_files(const Plan& plan, const std::string& root, const std::string& path) {
  std::vector<Problem> problems;
  for (const auto& [at, whole] : named_files(plan, root)) {
    if (!is_regular_file(whole) && !is_directory(whole))
      problems.push_back({.where = path, .message = at + ": expected a file or a folder, got " + whole});
  }
  if (!problems.empty()) throw Error(ErrorCode::kFileNotFound, problems);
}

// The plan that the folder was made for may have had fewer forms, but no others under the same names.
void check_folder(const std::string& folder, const std::vector<Cell>& cells) {
  const std::string path = folder + "/plan.json";
  if (!is_regular_file(path)) {
    for (const std::string& name : names_in(folder)) {
      if (!name.starts_with("tried") && name.find(kTemporaryMark) == std::string::npos)
        throw Error(ErrorCode::kFileWrite, folder,
                    "expected a new or empty folder, or one of this plan, got one with other files, such as " + name);
    }
    return;
  }
  for (const Cell& old : cells_of(parse_plan(load_json(path), path))) {
    const auto same = std::find_if(cells.begin(), cells.end(), [&](const Cell& cell) { return cell.name == old.name; });
    if (same == cells.end() || same->hash != old.hash)
      throw Error(ErrorCode::kUsage, "--output-dir",
                  folder + " holds runs of another plan: " + old.name + " is " +
                      (same == cells.end() ? "not in this one" : "of other options") + "; give another folder");
  }
}

// What the plan reads may not lie where its runs and tables are written, nor be linked to from there.
void check_keeps_files(const std::string& folder, const Plan& plan, const std::string& root) {
  const std::vector<std::string> names = names_in(folder);
  for (const auto& [at, file] : named_files(plan, root)) {
    const bool is_linked = std::ranges::any_of(
        names, [&](const std::string& name) { return cli::is_same_file(folder + "/" + name, file); });
    if (is_linked || is_inside(file, folder))
      throw Error(ErrorCode::kUsage, "--output-dir",
                  "expected a folder without the files of the plan, got " + folder + " with " + file +
                      "; choose another folder");
  }
}

// Files that are not there afterwards, whatever ends the work on them.
struct Removed {
  std::vector<std::string> paths;
  ~Removed() {
    std::error_code ignored;
    for (const std::string& path : paths) fs::remove(path, ignored);
  }
};

void remove_checkpoints(const std::string& folder) {
  for (const int64_t step : checkpoint_steps(folder)) fs::remove_all(folder + "/" + checkpoint_name(step));
}

class Ablation {
 public:
  Ablation(const AblateVerb& options, const std::string& plan_path)
      : options_(options),
        root_(fs::path(plan_path).parent_path().string()),
        document_(load_json(plan_path)),
        plan_(parse_plan(document_, plan_path)),
        cells_(cells_of(plan_)),
        printer_(options.progress, true, {.items = "runs", .tokens = ""}) {
    check_cells(plan_, cells_, plan_path);
    check_metrics(plan_, plan_path);
    check_files(plan_, root_, plan_path);
    check_keeps_files(options.output_dir, plan_, root_);
    check_folder(options.output_dir, cells_);
    fs::create_directories(options.output_dir);
    lock_.emplace(options.output_dir);
    if (!lock_->is_held())
      throw Error(ErrorCode::kFileWrite, options.output_dir, "another process is writing to this folder");
    remove_leftovers_in(options.output_dir);
    for (const Cell& cell : cells_) remove_leftovers_in(place(cell.name));
  }

  int run() {
    std::vector<std::string> folders{options_.output_dir};
    if (!options_.results.empty()) folders.push_back(options_.results);
    std::vector<std::optional<CellResult>> found;
    for (const Cell& cell : cells_) found.push_back(find_result(cell, folders));
    done_ =
        static_cast<size_t>(std::count_if(found.begin(), found.end(), [](const auto& one) { return one.has_value(); }));
    printer_.begin(done_, 0, fraction(0));
    if (!options_.tables_only && !try_forms(found)) return stop();
    write_text(place("plan.json"), document_.dump(2) + "\n");  // the folder is this plan's from here on
    for (size_t i = 0; i < cells_.size(); ++i) {
      if (found[i]) results_.push_back(*found[i]);
      if (found[i] || options_.tables_only) continue;
      std::optional<CellResult> result = run_cell(cells_[i]);
      if (!result) return stop();
      keep(cells_[i], *result);
      results_.push_back(std::move(*result));
      ++done_;
      printer_.update(done_, 0, fraction(0));
      say(cells_[i].name + ": finished, " + std::to_string(done_) + " of " + std::to_string(cells_.size()));
      write_tables();
    }
    write_tables();
    say("the table is in " + place("table.html") + " and " + place("table.md"));
    return 0;
  }

 private:
  std::string place(const std::string& name) const { return options_.output_dir + "/" + name; }
  std::string from_root(const std::string& path) const { return (fs::path(root_) / path).lexically_normal().string(); }
  std::vector<std::string> corpora() const {
    std::vector<std::string> paths;
    for (const std::string& path : plan_.corpora) paths.push_back(from_root(path));
    return paths;
  }
  double fraction(double of_cell) const {
    return (static_cast<double>(done_) + of_cell) / static_cast<double>(cells_.size());
  }
  void say(const std::string& text) {
    printer_.clear();
    cli::note(text);
  }
  int stop() {
    say("stopped; the same command goes on with what is in " + options_.output_dir);
    return cli::interrupted();
  }

  // Absolute, so that they mean the same from everywhere.
  JsonObject with_paths(JsonObject options) const {
    for (auto& [name, value] : options) {
      const bool is_path = std::find(kPaths.begin(), kPaths.end(), name) != kPaths.end();
      if (!is_path || !value.is_string()) continue;
      const std::string path = from_root(value.as_string());
      if (is_regular_file(path) || is_directory(path)) value = path;  // else a name: v3-base
    }
    return options;
  }

  // Begins each form that is to run, and ends it before its first step: options that do not fit together would else be
  // told in hours. False once stopped. Throws kUsage with the problems of all forms.
  bool try_forms(const std::vector<std::optional<CellResult>>& found) {
    if (!plan_.model.empty()) return true;
    const std::string config = place("tried.options.json"), log = place("tried.log");
    const Removed removed{{config, log}};
    std::vector<Problem> problems;
    std::string last;
    for (size_t i = 0; i < cells_.size(); ++i) {
      if (found[i] || cells_[i].form == last) continue;
      last = cells_[i].form;
      write_text(config, Json(JsonObject{{"pretrain", with_paths(cells_[i].pretrain)}}).dump(2) + "\n");
      std::vector<std::string> words = {"deberta-train", "pretrain",   "--config", config,
                                        "--dry-run",     "--progress", "on"};
      const std::vector<std::string> texts = corpora();
      words.insert(words.end(), texts.begin(), texts.end());
      const ChildEnd end = run_child(words, log, [](double) {});
      if (cli::interrupted() != 0) return false;
      if (end.status != 0) problems.push_back({.where = "forms." + last, .message = end.last_line});
    }
    if (!problems.empty()) throw Error(ErrorCode::kUsage, problems);
    return true;
  }

  // Runs a verb with these options in a folder; false once stopped. `begin`, `share`: its part of the cell.
  bool run_verb(const Cell& cell, const std::string& verb, const std::string& folder, const JsonObject& options,
                const std::vector<std::string>& more, double begin, double share) {
    const std::string config = place(cell.name + "/" + folder + ".options.json");
    write_text(config, Json(JsonObject{{verb, with_paths(options)}}).dump(2) + "\n");
    std::vector<std::string> words = {"deberta-train", verb,
                                      "--config",      config,
                                      "--output-dir",  place(cell.name + "/" + folder),
                                      "--threads",     std::to_string(options_.threads),
                                      "--progress",    "on"};
    words.insert(words.end(), more.begin(), more.end());
    const ChildEnd end = run_child(words, place(cell.name + "/log.txt"), [&](double part) {
      const double reached = fraction(begin + share * std::min(part, 1.0));
      if (std::exchange(is_first_report_, false)) return printer_.begin(done_, 0, reached);  // what was done before
      printer_.update(done_, 0, reached);
    });
    if (cli::interrupted() != 0) return false;
    if (end.status != 0)
      throw Error(ErrorCode::kInput, cell.name + "/" + folder,
                  "its run ended with code " + std::to_string(end.status) + ": " + end.last_line + "; see " +
                      place(cell.name + "/log.txt"));
    return true;
  }

  // All options of a cell's pre-training, which the checks have accepted.
  static Options pretraining_of(const Cell& cell) {
    Options options("pretrain");
    for (const auto& [name, value] : cell.pretrain) options.set(name, text_of(value), "plan");
    return options;
  }
  static bool is_pair(const Options& pretraining) {
    return PretrainVerb(pretraining).objective == ObjectiveChoice::kRtd;
  }

  // A fine-tuning: of a task with folds one for each.
  struct TaskRun {
    std::string folder;  // in that of the cell
    std::string fold;    // "2/5"; empty: the task has none
  };
  static std::vector<TaskRun> runs_of(const PlanTask& task) {
    if (task.folds == 0) return {{task.name, ""}};
    std::vector<TaskRun> runs;
    for (size_t number = 1; number <= task.folds; ++number)
      runs.push_back(
          {task.name + "/" + fold_name(number, task.folds), std::to_string(number) + "/" + std::to_string(task.folds)});
    return runs;
  }

  // Nothing once stopped.
  std::optional<CellResult> run_cell(const Cell& cell) {
    fs::create_directories(place(cell.name));
    double begin = cell.finetune.empty() ? 1 : 0.6;  // of the fine-tunings in the time of a cell, about
    std::string model = place(cell.name + (is_pair(pretraining_of(cell)) ? "/pretrain/discriminator" : "/pretrain"));
    CellResult result{.form = cell.form, .seed = cell.seed, .hash = cell.hash};
    if (plan_.model.empty()) {
      if (!run_verb(cell, "pretrain", "pretrain", cell.pretrain, corpora(), 0, begin)) return std::nullopt;
      add_pretraining(cell, result);
    } else {
      begin = 0;
      model = from_root(plan_.model);
    }
    size_t runs = 0;
    for (const PlanTask& task : plan_.tasks) runs += runs_of(task).size();
    const double share = (1 - begin) / static_cast<double>(std::max<size_t>(1, runs));
    for (size_t i = 0; i < cell.finetune.size(); ++i) {
      for (const TaskRun& run : runs_of(plan_.tasks[i])) {
        std::vector<std::string> words = {"--model", model};
        if (!run.fold.empty()) words.insert(words.end(), {"--fold", run.fold});
        if (!run_verb(cell, "finetune", plan_.tasks[i].name, cell.finetune[i].second, words, begin, share))
          return std::nullopt;
        begin += share;
      }
      add_task(cell, plan_.tasks[i], result);
    }
    return result;
  }

  Json results_of(const Cell& cell, const std::string& folder) const {
    return load_json(place(cell.name + "/" + folder + "/" + kResultsName));
  }
  static double number(const Json& results, const std::string& name, const std::string& where) {
    const Json* value = results.find(name);
    if (value == nullptr || !value->is_number())
      throw Error(ErrorCode::kInput, where, "expected a number " + name + " in " + kResultsName + ", got none");
    return value->as_number();
  }

  double seconds_of(const Cell& cell, const std::string& folder) const {
    return load_run_record(place(cell.name + "/" + folder)).seconds();
  }

  double flops_per_token(const Cell& cell) const {
    const Options options = pretraining_of(cell);
    const PretrainVerb pretrain(options);
    const auto of = [&](const std::string& model, double predicted) {
      return training_flops_per_token(load_model_config(place(cell.name + "/pretrain/" + model + "config.json")),
                                      static_cast<int32_t>(pretrain.max_tokens), predicted);
    };
    const double predicted = pretrain.objective == ObjectiveChoice::kCausal ? 1 : pretrain.mlm_probability;
    return is_pair(options) ? of("generator/", predicted) + of("discriminator/", 0) : of("", predicted);
  }

  void add_pretraining(const Cell& cell, CellResult& result) const {
    constexpr std::string_view kEvaluation = "eval_";
    const Json results = results_of(cell, "pretrain");
    const std::string where = cell.name + "/pretrain";
    result.tokens = number(results, "tokens", where);
    result.flops = result.tokens * flops_per_token(cell);
    result.seconds = seconds_of(cell, "pretrain");
    for (const auto& [name, value] : results.as_object()) {
      if (name.starts_with(kEvaluation) && value.is_number())
        result.pretraining.emplace_back(name.substr(kEvaluation.size()), value.as_number());
    }
  }

  // Of a task with folds the mean, which the last of them has written.
  void add_task(const Cell& cell, const PlanTask& task, CellResult& result) const {
    const Json results = results_of(cell, task.name);
    const std::string where = cell.name + "/" + task.name;
    for (const TaskRun& run : runs_of(task)) result.seconds += seconds_of(cell, run.folder);
    result.tasks.emplace_back(task.name, number(results, "eval_" + task.metric, where));
  }

  // The result and the log of the first run, also where results are kept; what a finished run no longer needs goes.
  void keep(const Cell& cell, const CellResult& result) {
    const std::string first = plan_.model.empty() ? "pretrain" : runs_of(plan_.tasks.front()).front().folder;
    const std::string log = read_file(place(cell.name + "/" + first + "/" + kMetricsName), uint64_t{1} << 30);
    std::vector<std::string> folders{options_.output_dir};
    if (!options_.results.empty()) folders.push_back(options_.results);
    for (const std::string& folder : folders) {
      fs::create_directories(folder);
      write_text(folder + "/" + cell.name + ".jsonl", log);
      write_text(folder + "/" + cell.name + ".json",
                 to_json(result).dump(2) + "\n");  // last: with it the cell is finished
    }
    std::vector<std::string> runs;
    if (plan_.model.empty()) runs.emplace_back("pretrain");
    for (const PlanTask& task : plan_.tasks) {
      for (const TaskRun& run : runs_of(task)) runs.push_back(run.folder);
    }
    for (const std::string& run : runs) remove_checkpoints(place(cell.name + "/" + run));
  }

  void write_tables() {
    const Summary summary = summarize(plan_, results_);
    write_text(place("table.md"), markdown_of(summary));
    write_text(place("table.json"), to_json(summary).dump(1) + "\n");
    write_text(place("table.html"), page_of(summary, fs::path(options_.output_dir).filename().string()));
  }

  const AblateVerb& options_;
  std::string root_;  // of the plan's paths
  Json document_;
  Plan plan_;
  std::vector<Cell> cells_;
  std::optional<FolderLock> lock_;
  std::vector<CellResult> results_;
  size_t done_ = 0;
  bool is_first_report_ = true;  // of a run's progress
  cli::ProgressPrinter printer_;
};

}  // namespace

int run_ablate(const Options& options) {
  const AblateVerb given(options);
  if (given.arguments.size() != 1)
    throw Error(ErrorCode::kUsage, "ablate",
                "expected the file of one plan, got " + std::to_string(given.arguments.size()));
  if (given.output_dir.empty()) throw Error(ErrorCode::kUsage, "--output-dir", "expected a folder, got none");
  return Ablation(given, given.arguments.front()).run();
}

}  // namespace deberta::train
