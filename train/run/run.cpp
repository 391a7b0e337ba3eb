// The loop: resume, step, log, evaluate, save, stop, and at the end take the best model and write the reports.
#include "train/run/run.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/output_file.h"
#include "deberta/error.h"
#include "train/report/reports.h"
#include "train/run/averaged.h"
#include "train/run/batch_size_search.h"
#include "train/run/best.h"
#include "train/run/journal.h"
#include "train/run/recent_loss.h"
#include "train/run/same_run.h"
#include "train/state/checkpoint_folder.h"
#include "train/state/run_folder.h"

namespace deberta::train {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kMostSkipped = 5;  // steps in a row that are not finite
constexpr const char* kSkipped = "skipped_steps";
constexpr const char* kSkippedInARow = "skipped_in_a_row";
constexpr const char* kOwedEvaluations = "owed_evaluations";  // 1: a stop cut short the one of this step
constexpr const char* kNotBetter = "evaluations_without_a_better_one";

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

class Run {
 public:
  Run(const RunSettings& settings, const RunHooks& hooks)
      : settings_(settings), hooks_(hooks), polled_(hooks), schedule_(find_schedule(settings.schedule)) {
    polled_.stop = [this] { return poll(); };
    polled_.on_beginning = [this](const std::string& text) { beginning_.push_back(text); };
  }

  RunResult go(const MakeLearner& make_learner);

 private:
  void prepare();
  void resume(const FoundCheckpoint& checkpoint);
  void tell_beginning() const;
  void note_start();
  void train();
  bool take_step();
  void count(const StepReport& report);
  void log();
  void write_line(const Metrics& metrics);
  void note(const char* kind, const std::string& text) { journal_->note({state_.step, kind, text}); }
  void save();
  Metrics evaluate(EvaluationPart part);
  void evaluate_step();
  void consider(const Metrics& metrics);
  CheckpointContents contents();
  void compare_with_best(const Metrics& metrics);
  void drop_lost_best();
  void take_best();
  void write_models();
  void finish();
  StopRequest poll();
  bool is_due(int64_t every) const { return every > 0 && state_.step % every == 0; }
  bool is_out_of_time() const { return settings_.max_seconds > 0 && seconds_since(begin_) >= settings_.max_seconds; }
  bool is_early() const;
  bool is_done() const { return state_.step >= state_.total_steps || is_early(); }

  const RunSettings& settings_;
  const RunHooks& hooks_;
  RunHooks polled_;  // hooks_ with poll() as `stop`
  std::vector<std::string> beginning_;
  std::optional<BestMetric> saved_best_;  // best of the evaluations whose steps were saved
  const Schedule& schedule_;
  ScheduleSettings schedule_settings_;

  std::unique_ptr<Learner> learner_;
  std::unique_ptr<RunFolder> folder_;
  std::unique_ptr<Journal> journal_;
  TrainerState state_;
  RunResult result_;
  std::atomic<bool> wants_save_ = false;  // an evaluation polls on threads of its own
  std::atomic<bool> is_stopped_ = false;
  int64_t eval_steps_ = 0;
  int64_t saved_step_ = -1, failed_step_ = -1;  // steps of the last save and of the last failed one
  int64_t evaluated_step_ = -1;
  Metrics evaluation_;  // metrics of evaluated_step_
  int64_t failed_saves_ = 0;
  RecentLoss recent_loss_;
  const Clock::time_point begin_ = Clock::now();
  Clock::time_point log_begin_;
  int64_t log_tokens_ = 0;  // at log_begin_
};

StopRequest Run::poll() {
  const StopRequest request = hooks_.stop();
  if (request == StopRequest::kSave) wants_save_ = true;
  if (request == StopRequest::kStop) is_stopped_ = true;
  return is_stopped_ ? StopRequest::kStop : StopRequest::kNone;
}

bool Run::is_early() const {
  if (!settings_.best || settings_.best->patience == 0) return false;
  const auto counter = state_.counters.find(kNotBetter);
  return counter != state_.counters.end() && counter->second >= settings_.best->patience;
}

void Run::prepare() {
  state_.total_steps = learner_->total_steps();
  eval_steps_ = settings_.eval_steps > 0 ? settings_.eval_steps : learner_->evaluation_steps();
  schedule_settings_ = schedule_of(settings_, state_.total_steps);
  state_.seed = static_cast<int64_t>(settings_.seed);
  state_.options = settings_.options;
  state_.hashes = learner_->hashes();
  folder_ = std::make_unique<RunFolder>(settings_.output, settings_.resumes);
  check_overridden(settings_.overridden, state_, folder_->checkpoint() ? &folder_->checkpoint()->state : nullptr);
  folder_->checkpoint() ? resume(*folder_->checkpoint()) : tell_beginning();
  journal_ = std::make_unique<Journal>(*folder_, state_.step);
  note_start();
  if (const std::optional<Error> error = missing_space(folder_->path(), contents()))
    warn(std::string("a checkpoint does not fit on the disk: ") + error->what());
}

void Run::tell_beginning() const {
  for (const std::string& text : beginning_) hooks_.on_beginning(text);
}

void Run::note_start() {
  RunEvent start{.step = state_.step, .kind = event::kBegan, .details = settings_.details};
  const Details read = learner_->details();
  start.details.insert(start.details.end(), read.begin(), read.end());
  if (folder_->checkpoint()) {
    start.kind = event::kResumed;
    start.text = "from " + checkpoint_name(state_.step);
  }
  journal_->note(start);
  if (result_.is_degraded)
    note(event::kDegraded, "the newest checkpoint was damaged or missing, so an older one was used");
}

void Run::resume(const FoundCheckpoint& checkpoint) {
  check_same_run(checkpoint.state, state_, settings_.overridden, settings_.output);
  const TrainerState current = state_;
  state_ = checkpoint.state;
  state_.options = current.options;
  state_.hashes = current.hashes;
  state_.total_steps = current.total_steps;
  result_.is_degraded = checkpoint.is_degraded;
  saved_step_ = state_.step;
  saved_best_ = state_.best;
  learner_->load(checkpoint.folder);
  hooks_.on_note("continuing from " + checkpoint.folder);
}

void Run::count(const StepReport& report) {
  state_.sums["steps"] += 1;
  state_.counters[kSkipped] += !report.is_finite;
  if (!report.is_finite) note(event::kSkippedStep, "the loss or its gradient was not finite");
  int64_t& in_a_row = state_.counters[kSkippedInARow];
  in_a_row = report.is_finite ? 0 : in_a_row + 1;
  state_.samples += report.samples;
  state_.tokens += report.tokens;
  ++state_.step;
}

// False: stopped between micro-batches, with the weights and the state of before.
bool Run::take_step() {
  const int64_t step = state_.step;
  recent_loss_.before(state_.sums);
  const auto check_stop = [this] {
    if (poll() == StopRequest::kStop) throw StepLeft{};
  };
  try {
    count(learner_->step({.step = step,
                          .factor = schedule_.factor(step, schedule_settings_),
                          .max_norm = settings_.max_norm,
                          .check_stop = check_stop},
                         state_.sums));
  } catch (const StepLeft&) {
    return false;
  }
  recent_loss_.after(state_.sums);
  if (state_.counters[kSkippedInARow] >= kMostSkipped) {
    note(event::kDiverged, std::to_string(kMostSkipped) + " steps in a row were not finite");
    throw Error(ErrorCode::kNotFinite, "step " + std::to_string(step),
                "the loss or its gradient was not finite in " + std::to_string(kMostSkipped) +
                    " steps in a row; the last good checkpoint is " +
                    (saved_step_ < 0 ? "none" : folder_->file(checkpoint_name(saved_step_))) +
                    "; a lower learning rate may help");
  }
  return true;
}

void Run::write_line(const Metrics& metrics) {
  if (metrics.empty()) return;
  journal_->write(state_.step, metrics);
  hooks_.on_log(state_.step, metrics);
}

void Run::log() {
  const double seconds = seconds_since(log_begin_);
  Metrics metrics = learner_->metrics(state_.sums);
  metrics.insert(metrics.end(),
                 {{"samples", static_cast<double>(state_.samples)},
                  {"tokens", static_cast<double>(state_.tokens)},
                  {"skipped_steps", static_cast<double>(state_.counters[kSkipped])},
                  {"tokens_per_s", static_cast<double>(state_.tokens - log_tokens_) / std::max(seconds, 1e-9)},
                  {"seconds", seconds}});
  write_line(metrics);
  state_.sums.clear();
  log_begin_ = Clock::now();
  log_tokens_ = state_.tokens;
}

CheckpointContents Run::contents() {
  return {.state = state_,
          .optimizer = learner_->optimizer_tensors(),
          .add_models = [this](ManifestWriter& files) { learner_->add_models(files); },
          .models_bytes = learner_->models_bytes()};
}

// A last checkpoint that cannot be written does not keep the model from being written.
void Run::save() {
  hooks_.on_progress({.phase = Phase::kSaving});
  const bool was_asked_for = wants_save_.exchange(false);
  try {
    journal_->sync();
    drop_lost_best();
    const std::string folder =
        save_checkpoint(folder_->path(), contents(),
                        {.keep_last = settings_.save_total_limit,
                         .best_step = state_.best ? std::optional(state_.best->step) : std::nullopt});
    saved_step_ = state_.step;
    if (state_.best && state_.best->step == state_.step) saved_best_ = state_.best;
    failed_saves_ = 0;
    if (was_asked_for) hooks_.on_note("saved " + folder);
  } catch (const Error& error) {
    constexpr int64_t kMostFailedSaves = 3;
    if (error.code() != ErrorCode::kFileWrite || is_stopped_ || result_.is_out_of_time) throw;
    if (++failed_saves_ == kMostFailedSaves && !is_done()) throw;
    failed_step_ = state_.step;
    note(event::kFailedSave, error.what());
    warn(std::string("cannot write a checkpoint; ") +
         (is_done() ? "only the model will be written: " : "training continues: ") + error.what());
  }
}

Metrics Run::evaluate(EvaluationPart part) {
  const Averaged averaged(*learner_);
  hooks_.on_progress({.phase = Phase::kEvaluating});
  RunHooks hooks = polled_;
  hooks.on_note = [this](const std::string& text) {
    note(event::kNotEvaluated, text);
    hooks_.on_note(text);
  };
  return learner_->evaluate(part, hooks);
}

// One that a stop cuts short is made up for when the run goes on, so that the log is that of a run without a stop.
void Run::evaluate_step() {
  const Metrics metrics = evaluate(EvaluationPart::kSome);
  state_.counters[kOwedEvaluations] = metrics.empty() && is_stopped_;
  write_line(metrics);
  consider(metrics);
}

void Run::consider(const Metrics& metrics) {
  if (metrics.empty()) return;
  evaluated_step_ = state_.step;
  evaluation_ = metrics;
  compare_with_best(metrics);
}

void Run::compare_with_best(const Metrics& metrics) {
  if (!settings_.best || !is_evaluated(*settings_.best, metrics)) return;
  drop_lost_best();
  int64_t& not_better = state_.counters[kNotBetter];
  if (!is_better(*settings_.best, metrics, state_.best)) {
    ++not_better;
    return;
  }
  not_better = 0;
  state_.best = to_best(*settings_.best, metrics, state_.step);
}

void Run::train() {
  learner_->begin(state_.step);
  if (state_.counters[kOwedEvaluations] > 0) evaluate_step();
  log_begin_ = Clock::now();
  log_tokens_ = state_.tokens;
  while (!is_done() && poll() != StopRequest::kStop) {
    if (!take_step()) break;
    hooks_.on_progress({Phase::kTraining, static_cast<uint64_t>(state_.step), static_cast<uint64_t>(state_.tokens),
                        static_cast<double>(state_.step) / static_cast<double>(state_.total_steps)});
    const bool is_last = state_.step >= state_.total_steps;
    if (is_due(settings_.logging_steps) || is_last) log();
    if (is_last ? settings_.best.has_value() : is_due(eval_steps_)) evaluate_step();
    const bool is_best = state_.best && state_.best->step == state_.step;
    if (is_due(settings_.save_steps) || is_best || wants_save_) save();
    result_.is_out_of_time = is_out_of_time() && !is_done();
    if (result_.is_out_of_time) break;
  }
  // A run that was killed after its last save may have left checkpoints that this removes.
  const bool is_found = folder_->checkpoint() && folder_->checkpoint()->state.step == state_.step;
  const bool has_failed = is_done() && failed_step_ == state_.step;  // nothing has changed since
  if ((saved_step_ != state_.step && !has_failed) || is_found) save();
}

// A step whose save failed can be the best while its model is here: afterwards it is the best of those that were saved.
void Run::drop_lost_best() {
  if (!state_.best || state_.best->step == state_.step) return;
  if (is_directory(folder_->file(checkpoint_name(state_.best->step)))) return;
  if (saved_best_ && saved_best_->step == state_.best->step) saved_best_.reset();  // its folder has been removed
  warn("the best model so far, of step " + std::to_string(state_.best->step) + ", was not saved; " +
       (saved_best_ ? "the best saved one is that of step " + std::to_string(saved_best_->step)
                    : std::string("no other model was saved")));
  state_.best = saved_best_;
}

// The learner has the models of the best step afterwards.
void Run::take_best() {
  drop_lost_best();
  result_.best_step = state_.best ? state_.best->step : state_.step;
  if (result_.best_step == state_.step) return;
  learner_->load(folder_->file(checkpoint_name(result_.best_step)));
}

Json results_of(const RunResult& result) {
  JsonObject object{{"steps", result.steps}, {"tokens", result.tokens}, {"train_runtime", result.seconds}};
  if (result.best_step != result.steps) object.emplace_back("best_step", result.best_step);
  if (result.is_out_of_time) object.emplace_back(kOutOfTimeKey, true);
  for (const auto& [name, value] : result.evaluation) object.emplace_back(name, to_json_number(value));
  return object;
}

void Run::write_models() {
  const Averaged averaged(*learner_);
  learner_->write_models(folder_->path());
  learner_->write_answers(folder_->path(), polled_);
}

// The models and their reports, in the run's folder. An end by time is not one of the run: its last evaluation is in no
// log and in no checkpoint.
void Run::finish() {
  if (result_.is_out_of_time && settings_.best && evaluated_step_ != state_.step)
    consider(evaluate(EvaluationPart::kSome));
  take_best();
  const bool is_known = settings_.best && evaluated_step_ == result_.best_step;
  result_.evaluation = is_known ? evaluation_ : evaluate(EvaluationPart::kAll);
  if (is_stopped_) return;
  if (!settings_.best && !result_.is_out_of_time) write_line(result_.evaluation);
  journal_->sync();
  hooks_.on_progress({.phase = Phase::kSaving});
  write_models();
  if (is_stopped_) return;  // the answers may not be there
  write_output_file(folder_->file(kResultsName),
                    [&](FileWriter& file) { file.write(results_of(result_).dump(2) + "\n"); });
  if (result_.is_out_of_time)
    note(event::kOutOfTime, "the model is that of step " + std::to_string(result_.best_step));
  else
    note(event::kFinished, "");
  write_reports(folder_->path(), EventFiles::kKeep);
  result_.is_finished = true;
}

RunResult Run::go(const MakeLearner& make_learner) {
  try {
    learner_ = make_learner(polled_);
  } catch (...) {
    tell_beginning();  // the notes may explain the error
    throw;
  }
  if (learner_ != nullptr) {
    prepare();
    result_.total_steps = state_.total_steps;
    result_.guess_loss = learner_->guess_loss();
    train();
    result_.steps = state_.step;
    result_.tokens = state_.tokens;
    result_.is_early = is_early();
    result_.last_loss = recent_loss_.mean();
    result_.seconds = seconds_since(begin_);
    if ((is_done() || result_.is_out_of_time) && !is_stopped_) finish();
    if (is_stopped_) note(event::kStopped, "");
  }
  result_.seconds = seconds_since(begin_);
  return result_;
}

[[noreturn]] void fail_without_memory() {
  throw Error(ErrorCode::kOutOfMemory, "training",
              "out of memory: a step needs more memory than there is; the last good checkpoint is kept; a step of more "
              "micro-batches needs less memory, and so does computing layers again in the backward pass");
}

}  // namespace

ScheduleSettings schedule_of(const RunSettings& settings, int64_t steps) {
  ScheduleSettings schedule_settings = settings.schedule_settings;
  schedule_settings.total = steps;
  check_schedule(find_schedule(settings.schedule), schedule_settings);
  return schedule_settings;
}

RunResult run(const RunSettings& settings, const MakeLearner& make_learner, const RunHooks& hooks) {
  try {
    return Run(settings, hooks).go(make_learner);
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {  // from LibTorch, which is not known here, or the C++ library
    if (!is_out_of_memory(error)) throw;
    fail_without_memory();
  }
}

}  // namespace deberta::train
