// A cell is finished when its result is written, which comes last.
#include "train/ablation/runner.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/folder.h"
#include "base/output_file.h"
#include "deberta/error.h"
#include "train/ablation/results.h"
#include "train/ablation/summary.h"
#include "train/report/run_record.h"
#include "train/report/signal_chart.h"
#include "train/state/checkpoint_folder.h"
#include "train/state/run_folder.h"

namespace deberta::train {
namespace {

namespace fs = std::filesystem;

// Options whose values are paths, which a plan writes relative to its own folder.
constexpr auto kPaths =
    std::to_array<std::string_view>({"tokenizer-name", "config-name", "model", "generator-model", "teacher",
                                     "train-file", "validation-file", "labels-file", "validation-labels-file"});

void write_text(const std::string& path, const std::string& text) {
  write_output_file(path, [&](FileWriter& out) { out.write(text); });
}

// Removes files when it goes out of scope, also on an exception.
struct RemovedFiles {
  std::vector<std::string> paths;
  ~RemovedFiles() {
    std::error_code ignored;
    for (const std::string& path : paths) fs::remove(path, ignored);
  }
};

void remove_checkpoints(const std::string& folder) {
  for (const int64_t step : checkpoint_steps(folder)) fs::remove_all(folder + "/" + checkpoint_name(step));
}

// Makes paths absolute, so that they mean the same in every working directory.
JsonObject with_paths(const PlanFile& file, JsonObject options) {
  for (auto& [name, value] : options) {
    const bool is_path = std::find(kPaths.begin(), kPaths.end(), name) != kPaths.end();
    if (!is_path || !value.is_string()) continue;
    const std::string path = file.from_root(value.as_string());
    if (is_regular_file(path) || is_directory(path)) value = path;  // else a name: v3-base
  }
  return options;
}

void write_options(const std::string& path, const std::string& verb, JsonObject options) {
  write_text(path, Json(JsonObject{{verb, std::move(options)}}).dump(2) + "\n");
}

class Ablation {
 public:
  Ablation(const PlanFile& file, const AblationSettings& settings, const AblationHooks& hooks)
      : file_(file), settings_(settings), hooks_(hooks) {
    check_plan(file, hooks.check_options);
    check_folder(file, settings.output);
    fs::create_directories(settings.output);
    lock_.emplace(settings.output);
    if (!lock_->is_held())
      throw Error(ErrorCode::kFileWrite, settings.output, "another process is writing to this folder");
    remove_leftovers_in(settings.output);
    for (const Cell& cell : cells()) remove_leftovers_in(path_in(cell.name));
  }

  bool run();

 private:
  // A run's part of the progress of its cell.
  struct Part {
    double begin = 0, share = 1;
  };

  const Plan& plan() const { return file_.plan; }
  const std::vector<Cell>& cells() const { return file_.cells; }
  std::string path_in(const std::string& name) const { return settings_.output + "/" + name; }
  std::vector<std::string> result_folders() const;
  std::vector<std::string> corpora() const;
  double fraction(double of_cell) const {
    return (static_cast<double>(done_) + of_cell) / static_cast<double>(cells().size());
  }
  bool try_forms(const std::vector<std::optional<CellResult>>& stored);
  bool run_verb(const Cell& cell, const JsonObject& options, CellRun run, Part part);
  bool run_task(const Cell& cell, size_t task, const std::string& model, Part& part, CellResult& result);
  std::optional<CellResult> run_cell(const Cell& cell);
  void keep(const Cell& cell, const CellResult& result);
  std::vector<chart::Line> signal_of(const std::string& form) const;
  void write_tables();

  const PlanFile& file_;
  const AblationSettings& settings_;
  const AblationHooks& hooks_;
  std::optional<FolderLock> lock_;
  std::vector<CellResult> results_;
  size_t done_ = 0;
  bool is_first_report_ = true;  // the next report is the first of a run's progress
};

std::vector<std::string> Ablation::result_folders() const {
  std::vector<std::string> folders{settings_.output};
  if (!settings_.results.empty()) folders.push_back(settings_.results);
  return folders;
}

std::vector<std::string> Ablation::corpora() const {
  std::vector<std::string> paths;
  for (const std::string& path : plan().corpora) paths.push_back(file_.from_root(path));
  return paths;
}

bool Ablation::run() {
  std::vector<std::optional<CellResult>> stored;
  for (const Cell& cell : cells()) stored.push_back(find_result(cell, result_folders()));
  done_ = static_cast<size_t>(
      std::count_if(stored.begin(), stored.end(), [](const auto& result) { return result.has_value(); }));
  hooks_.on_begin(done_, fraction(0));
  if (!settings_.tables_only && !try_forms(stored)) return false;
  write_text(path_in(kPlanName), file_.document.dump(2) + "\n");  // from here on the folder belongs to this plan
  for (size_t i = 0; i < cells().size(); ++i) {
    if (stored[i]) results_.push_back(*stored[i]);
    if (stored[i] || settings_.tables_only) continue;
    std::optional<CellResult> result = run_cell(cells()[i]);
    if (!result) return false;
    keep(cells()[i], *result);
    results_.push_back(std::move(*result));
    ++done_;
    hooks_.on_progress(done_, fraction(0));
    hooks_.on_note(cells()[i].name + ": finished, " + std::to_string(done_) + " of " + std::to_string(cells().size()));
    write_tables();
  }
  write_tables();
  hooks_.on_note("the table is in " + path_in("table.html") + " and " + path_in("table.md"));
  return true;
}

// Starts each form that is to run, and ends it before its first step: otherwise options that do not fit together would
// be reported after hours. False once stopped. Throws kUsage with the problems of all forms.
bool Ablation::try_forms(const std::vector<std::optional<CellResult>>& stored) {
  if (!plan().model.empty()) return true;
  const std::string options = path_in("tried.options.json"), log = path_in("tried.log");
  const RemovedFiles removed{{options, log}};
  std::vector<Problem> problems;
  std::string last;
  for (size_t i = 0; i < cells().size(); ++i) {
    const Cell& cell = cells()[i];
    if (stored[i] || cell.form == last) continue;
    last = cell.form;
    write_options(options, "pretrain", with_paths(file_, cell.pretrain));
    const RunEnd end =
        hooks_.run({.verb = "pretrain", .options = options, .log = log, .corpora = corpora()}, [](double) {});
    if (hooks_.is_stopped()) return false;
    if (end.status != 0) problems.push_back({.where = "forms." + last, .message = end.last_line});
  }
  if (!problems.empty()) throw Error(ErrorCode::kUsage, problems);
  return true;
}

// `run.folder`: its name in the cell's folder. False once stopped.
bool Ablation::run_verb(const Cell& cell, const JsonObject& options, CellRun run, Part part) {
  const std::string name = cell.name + "/" + run.folder;
  run.options = path_in(name + ".options.json");
  run.folder = path_in(name);
  run.log = path_in(cell.name + "/log.txt");
  write_options(run.options, run.verb, with_paths(file_, options));
  const RunEnd end = hooks_.run(run, [&](double done) {
    const double reached = fraction(part.begin + part.share * std::min(done, 1.0));
    std::exchange(is_first_report_, false) ? hooks_.on_begin(done_, reached) : hooks_.on_progress(done_, reached);
  });
  if (hooks_.is_stopped()) return false;
  if (end.status != 0)
    throw Error(ErrorCode::kInput, name,
                "its run ended with code " + std::to_string(end.status) + ": " + end.last_line + "; see " + run.log);
  return true;
}

// All fine-tunings of a task. False once stopped.
bool Ablation::run_task(const Cell& cell, size_t task, const std::string& model, Part& part, CellResult& result) {
  const PlanTask& row = plan().tasks[task];
  for (const TaskRun& run : runs_of(row)) {
    // The folds of a task have one file of options: that of the folder around them.
    CellRun words{.verb = "finetune", .options = {}, .folder = row.name, .model = model, .fold = run.fold};
    if (!run_verb(cell, cell.finetune[task].second, std::move(words), part)) return false;
    part.begin += part.share;
  }
  add_task(path_in(cell.name), cell, row, result);
  return true;
}

// None once stopped.
std::optional<CellResult> Ablation::run_cell(const Cell& cell) {
  fs::create_directories(path_in(cell.name));
  CellResult result{.form = cell.form, .seed = cell.seed, .hash = cell.hash};
  std::string model = file_.from_root(plan().model);
  Part part;
  if (plan().model.empty()) {
    const PretrainingFacts facts = hooks_.pretraining_facts(cell.pretrain);
    part.share = cell.finetune.empty() ? 1 : 0.6;  // about this share of a cell's time
    CellRun words{.verb = "pretrain", .options = {}, .folder = kPretrainFolder, .corpora = corpora()};
    if (!run_verb(cell, cell.pretrain, std::move(words), part)) return std::nullopt;
    add_pretraining(path_in(cell.name), cell, facts, result);
    model = path_in(cell.name + "/" + kPretrainFolder + (facts.is_pair ? "/discriminator" : ""));
    part.begin = part.share;
  }
  const size_t pretrainings = plan().model.empty() ? 1 : 0, tasks = run_folders(plan()).size() - pretrainings;
  part.share = (1 - part.begin) / static_cast<double>(std::max<size_t>(1, tasks));
  for (size_t i = 0; i < cell.finetune.size(); ++i) {
    if (!run_task(cell, i, model, part, result)) return std::nullopt;
  }
  return result;
}

// Writes the result and the log of the first run, also to --results; removes the checkpoints of finished runs.
void Ablation::keep(const Cell& cell, const CellResult& result) {
  const std::vector<std::string> runs = run_folders(plan());
  const std::string log = read_file(path_in(cell.name + "/" + runs.front() + "/" + kMetricsName), uint64_t{1} << 30);
  for (const std::string& folder : result_folders()) {
    fs::create_directories(folder);
    write_text(folder + "/" + cell.name + ".jsonl", log);
    write_text(folder + "/" + cell.name + ".json",
               to_json(result).dump(2) + "\n");  // last: with it the cell is finished
  }
  for (const std::string& run : runs) remove_checkpoints(path_in(cell.name + "/" + run));
}

// From the log of the form's first run that has one; none of a plan without pre-training.
std::vector<chart::Line> Ablation::signal_of(const std::string& form) const {
  std::vector<std::string> damage;  // a line less in a chart
  for (const Cell& cell : cells()) {
    if (cell.form != form || !plan().model.empty()) continue;
    for (const std::string& folder : result_folders()) {
      const std::vector<LoggedLine> log = load_log(folder + "/" + cell.name + ".jsonl", damage);
      if (!log.empty()) return signal_lines(log, hooks_.pretraining_facts(cell.pretrain).alone);
    }
  }
  return {};
}

void Ablation::write_tables() {
  Summary summary = summarize(plan(), results_);
  for (SummaryRow& row : summary.rows) row.signal = signal_of(row.form);
  write_text(path_in("table.md"), markdown_of(summary));
  write_text(path_in("table.json"), to_json(summary).dump(1) + "\n");
  write_text(path_in("table.html"), page_of(summary, fs::path(settings_.output).filename().string()));
}

}  // namespace

bool run_ablation(const PlanFile& file, const AblationSettings& settings, const AblationHooks& hooks) {
  return Ablation(file, settings, hooks).run();
}

}  // namespace deberta::train
