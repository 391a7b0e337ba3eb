#include "train/loop/pretrain.h"

#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <memory>
#include <utility>

#include "base/json.h"
#include "base/log.h"
#include "base/output_file.h"
#include "base/sha256.h"
#include "base/thread_pool.h"
#include "checkpoint/safetensors.h"
#include "deberta/checkpoint.h"
#include "deberta/error.h"
#include "eval/language_model.h"
#include "metrics/task_table.h"
#include "train/data/prefetch.h"
#include "train/loop/corpora.h"
#include "train/loop/first_model.h"
#include "train/loop/model_files.h"
#include "train/loop/same_run.h"
#include "train/loop/trainer.h"
#include "train/objectives/language_model.h"
#include "train/state/checkpoint_folder.h"
#include "train/state/flat_tensors.h"
#include "train/state/metrics_log.h"
#include "train/state/run_folder.h"

namespace deberta::train {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int64_t kMostSkipped = 5;  // steps in a row that are not finite
constexpr const char* kSkipped = "skipped_steps";
constexpr const char* kSkippedInARow = "skipped_in_a_row";
constexpr const char* kOwedEvaluations = "owed_evaluations";  // 1: a stop cut short the one of this step

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// ---- what the run depends on

std::map<std::string, std::string> hashes_of(const Corpora& corpora, const Model& model) {
  Sha256 config;
  config.update(to_bytes(model.form.config.raw));
  return {{"corpora and tokenizer", corpora.hash()}, {"configuration", config.finish()}};
}

// ---- the run

class Run {
 public:
  Run(const PretrainSettings& settings, const RunHooks& hooks)
      : settings_(settings),
        hooks_(hooks),
        pool_(settings.threads > 0 ? settings.threads : usable_processors()),
        tokenizer_(Tokenizer::load(settings.tokenizer_folder)),
        pieces_(pieces_of(tokenizer_)),
        schedule_(find_schedule(settings.schedule)) {
    at::set_num_threads(1);  // the kernels have their own; sums of ATen then have one order
    compute_ = {.kernels = select_kernels(settings.kernels), .parallel = pool_.parallel()};
  }

  PretrainResult go();

 private:
  void prepare();
  void resume(const FoundCheckpoint& found);
  void train();
  bool take_step(int64_t step, const std::vector<TrainBatch>& batches);
  void count(const StepResult& result, double rate);
  void log();
  void write_line(const Metrics& metrics);
  void save();
  Metrics evaluate(size_t most_lines);
  void evaluate_step();
  void finish();
  StopRequest poll();
  double rate_of(int64_t step) const { return settings_.learning_rate * schedule_.factor(step, schedule_settings_); }
  bool is_due(int64_t every) const { return every > 0 && state_.step % every == 0; }

  const PretrainSettings& settings_;
  const RunHooks& hooks_;
  ThreadPool pool_;
  Compute compute_;
  Tokenizer tokenizer_;
  Pieces pieces_;
  const Schedule& schedule_;
  ScheduleSettings schedule_settings_;

  std::unique_ptr<RunFolder> folder_;
  std::optional<Corpora> corpora_;
  std::optional<Batches> batches_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<MetricsLog> log_;
  TrainerState state_;
  PretrainResult result_;
  std::atomic<bool> wants_save_ = false;  // an evaluation polls on threads of its own
  std::atomic<bool> is_stopped_ = false;
  int64_t saved_step_ = -1;
  int64_t failed_saves_ = 0;
  Clock::time_point log_begin_;
  int64_t log_tokens_ = 0;  // at log_begin_
};

StopRequest Run::poll() {
  const StopRequest request = hooks_.stop();
  if (request == StopRequest::kSave) wants_save_ = true;
  if (request == StopRequest::kStop) is_stopped_ = true;
  return is_stopped_ ? StopRequest::kStop : StopRequest::kNone;
}

// Everything up to the first step; corpora_ is empty once stopped.
void Run::prepare() {
  RunHooks reading = hooks_;
  reading.stop = [this] { return poll(); };
  trainer_ = std::make_unique<Trainer>(first_model(settings_, tokenizer_), settings_.adam, pool_.parallel());
  corpora_ = open_corpora(settings_, tokenizer_, pool_.parallel(), reading);
  if (!corpora_) return;
  state_.total_steps = count_steps(settings_, *corpora_);
  batches_.emplace(make_batches(settings_, *corpora_, pieces_, state_.total_steps));
  schedule_settings_ = settings_.schedule_settings;
  schedule_settings_.total = state_.total_steps;
  check_schedule(schedule_, schedule_settings_);
  state_.seed = static_cast<int64_t>(settings_.seed);
  state_.options = settings_.options;
  state_.hashes = hashes_of(*corpora_, trainer_->model());
  folder_ = std::make_unique<RunFolder>(settings_.output, settings_.resumes);
  if (folder_->found()) resume(*folder_->found());
  log_ = std::make_unique<MetricsLog>(folder_->file(kMetricsName), state_.step);
}

void Run::resume(const FoundCheckpoint& found) {
  check_same_run(found.state, state_, settings_.overridden, settings_.output);
  const TrainerState now = state_;
  state_ = found.state;
  state_.options = now.options;
  state_.hashes = now.hashes;
  state_.total_steps = now.total_steps;
  result_.is_degraded = found.is_degraded;
  saved_step_ = state_.step;
  load_parameters(trainer_->model(), Checkpoint::open(found.folder));
  load_optimizer(SafetensorsFile(found.folder + "/trainer/optim.safetensors"), "", trainer_->adam());
  hooks_.on_note("going on from " + found.folder);
}

void Run::count(const StepResult& result, double rate) {
  auto& sums = state_.sums;
  sums["loss"] += result.loss;
  sums["labels"] += static_cast<double>(result.count);
  sums["correct"] += static_cast<double>(result.correct);
  sums["steps"] += 1;
  sums["grad_norm"] += result.norm;
  sums["learning_rate"] = rate;
  state_.counters[kSkipped] += !result.is_finite;
  int64_t& in_a_row = state_.counters[kSkippedInARow];
  in_a_row = result.is_finite ? 0 : in_a_row + 1;
}

struct StepLeft {};  // thrown through Trainer::step(), which then has moved no weight

// False: stopped between micro-batches, with the weights and the state of before.
bool Run::take_step(int64_t step, const std::vector<TrainBatch>& batches) {
  std::vector<std::function<Loss()>> losses;
  const DropoutPlace place{.is_training = true, .seed = settings_.seed, .step = static_cast<uint32_t>(step)};
  for (const TrainBatch& batch : batches) {
    losses.push_back([&] {
      if (poll() == StopRequest::kStop) throw StepLeft{};
      return language_model_loss(trainer_->model(), compute_, batch, place);
    });
  }
  const double rate = rate_of(step);
  try {
    count(trainer_->step(losses, {.rate = rate, .max_norm = settings_.max_norm}), rate);
  } catch (const StepLeft&) {
    return false;
  }
  ++state_.step;
  for (const TrainBatch& batch : batches) {
    state_.samples += static_cast<int64_t>(batch.sequences());
    state_.tokens += static_cast<int64_t>(batch.tokens());
  }
  if (state_.counters[kSkippedInARow] >= kMostSkipped) {
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
  try {
    log_->write(state_.step, metrics);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kFileWrite) throw;
    warn(std::string("a line of the log waits, and training goes on: ") + error.what());
  }
  hooks_.on_log(state_.step, metrics);
}

void Run::log() {
  auto& sums = state_.sums;
  const double labels = std::max(1.0, sums["labels"]), steps = std::max(1.0, sums["steps"]);
  const double loss = sums["loss"] / labels, seconds = seconds_since(log_begin_);
  Metrics metrics{{"loss", loss},
                  {"perplexity", std::exp(loss)},
                  {"accuracy", sums["correct"] / labels},
                  {"grad_norm", sums["grad_norm"] / steps},
                  {"learning_rate", sums["learning_rate"]},
                  {"labels_per_step", sums["labels"] / steps},
                  {"samples", static_cast<double>(state_.samples)},
                  {"tokens", static_cast<double>(state_.tokens)},
                  {"skipped_steps", static_cast<double>(state_.counters[kSkipped])},
                  {"tokens_per_s", static_cast<double>(state_.tokens - log_tokens_) / std::max(seconds, 1e-9)},
                  {"seconds", seconds}};
  write_line(metrics);
  sums.clear();
  log_begin_ = Clock::now();
  log_tokens_ = state_.tokens;
}

void Run::save() {
  hooks_.on_progress({.phase = Phase::kSaving});
  const bool was_asked_for = wants_save_.exchange(false);
  try {
    log_->sync();
    const std::string folder = save_checkpoint(
        folder_->path(),
        {.state = state_,
         .optimizer = optimizer_tensors(trainer_->adam(), ""),
         .add_models =
             [&](ManifestWriter& files) { add_model_files(files, trainer_->model(), settings_.tokenizer_folder); },
         .models_bytes = size_of_files(trainer_->model())},
        {.keep_last = settings_.save_total_limit});
    saved_step_ = state_.step;
    failed_saves_ = 0;
    if (was_asked_for) hooks_.on_note("saved " + folder);
  } catch (const Error& error) {
    constexpr int64_t kMostFailedSaves = 3;
    if (error.code() != ErrorCode::kFileWrite || is_stopped_ || ++failed_saves_ == kMostFailedSaves ||
        state_.step == state_.total_steps)
      throw;
    warn(std::string("no checkpoint was written, and training goes on: ") + error.what());
  }
}

// Held-out documents, as `deberta eval` scores the same model on the same lines.
Metrics Run::evaluate(size_t most_lines) {
  if (settings_.corpus.holds_out_every == 0) return {};
  hooks_.on_progress({.phase = Phase::kEvaluating});
  const Pipeline pipeline = to_pipeline(trainer_->model(), settings_.tokenizer_folder,
                                        {.threads = pool_.threads(), .kernels = settings_.kernels});
  const bool is_causal = settings_.objective == Objective::kCausal;
  LanguageModelSettings settings{
      .input = {},
      .held_out = HeldOutLines{
          .corpora = corpora_->held_out, .every = settings_.corpus.holds_out_every, .most_lines = most_lines}};
  settings.sample.rules.encode.truncate = Truncate::kRight;
  if (is_causal) settings.sample.rules.long_text = LongText::kWindow;
  const EvalHooks hooks{.on_progress =
                            [this](size_t lines, size_t tokens, std::optional<double> fraction) {
                              hooks_.on_progress({Phase::kEvaluating, lines, tokens, fraction});
                            },
                        .is_stopped = [this] { return poll() == StopRequest::kStop; }};
  try {
    const TaskRow& task = find_task(is_causal ? "causal" : "mlm");
    const EvalResult scored = score(answer_language_model(
                                        task, settings, [&]() -> const Pipeline& { return pipeline; }, hooks),
                                    {.samples = 0}, hooks);
    Metrics metrics;
    for (const Metric& metric : scored.metrics) metrics.emplace_back("eval_" + metric.name, metric.value.value_or(NAN));
    return metrics;
  } catch (const EvalStopped&) {
    return {};
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInput) throw;
    hooks_.on_note(std::string("not evaluated: no document is held out: ") + error.what());
    return {};
  }
}

// One that a stop cuts short is made up for when the run goes on, so that the log is that of a run without a stop.
void Run::evaluate_step() {
  const Metrics metrics = evaluate(settings_.eval_lines);
  state_.counters[kOwedEvaluations] = metrics.empty() && is_stopped_;
  write_line(metrics);
}

void Run::train() {
  Prefetch ahead([this](uint64_t step) { return batches_->make(step); }, static_cast<uint64_t>(state_.step),
                 static_cast<uint64_t>(state_.total_steps), settings_.prefetch);
  if (state_.counters[kOwedEvaluations] > 0) evaluate_step();
  log_begin_ = Clock::now();
  log_tokens_ = state_.tokens;
  while (state_.step < state_.total_steps && poll() != StopRequest::kStop) {
    const std::optional<std::vector<TrainBatch>> batches = ahead.next();
    if (!take_step(state_.step, *batches)) break;
    hooks_.on_progress({Phase::kTraining, static_cast<uint64_t>(state_.step), static_cast<uint64_t>(state_.tokens),
                        static_cast<double>(state_.step) / static_cast<double>(state_.total_steps)});
    if (is_due(settings_.logging_steps) || state_.step == state_.total_steps) log();
    if (is_due(settings_.eval_steps) && state_.step < state_.total_steps) evaluate_step();
    if (is_due(settings_.save_steps) || wants_save_) save();
  }
  if (saved_step_ != state_.step) save();
}

Json results_of(const PretrainResult& result, const Metrics& last) {
  JsonObject object{{"steps", result.steps}, {"tokens", result.tokens}, {"train_runtime", result.seconds}};
  for (const auto& [name, value] : last) object.emplace_back(name, to_json_number(value));
  return object;
}

// The model and its reports, in the run's folder.
void Run::finish() {
  result_.evaluation = evaluate(0);
  if (is_stopped_) return;
  write_line(result_.evaluation);
  log_->sync();
  hooks_.on_progress({.phase = Phase::kSaving});
  write_model_files_into(folder_->path(), trainer_->model(), settings_.tokenizer_folder);
  write_output_file(folder_->file(kResultsName),
                    [&](FileWriter& file) { file.write(results_of(result_, result_.evaluation).dump(2) + "\n"); });
  result_.is_finished = true;
}

PretrainResult Run::go() {
  const Clock::time_point begin = Clock::now();
  prepare();
  if (corpora_) {
    result_.total_steps = state_.total_steps;
    train();
    result_.steps = state_.step;
    result_.tokens = state_.tokens;
    result_.seconds = seconds_since(begin);
    if (state_.step == state_.total_steps && !is_stopped_) finish();
  }
  result_.seconds = seconds_since(begin);
  return result_;
}

}  // namespace

PretrainResult pretrain(const PretrainSettings& settings, const RunHooks& hooks) {
  return Run(settings, hooks).go();
}

std::optional<DryRun> dry_run(const PretrainSettings& settings, const RunHooks& hooks) {
  const Tokenizer tokenizer = Tokenizer::load(settings.tokenizer_folder);
  const Pieces pieces = pieces_of(tokenizer);
  ThreadPool pool(settings.threads > 0 ? settings.threads : usable_processors());
  Model model = make_model(form_of_run(settings, tokenizer));
  const std::optional<Corpora> corpora = open_corpora(settings, tokenizer, pool.parallel(), hooks);
  if (!corpora) return std::nullopt;
  DryRun dry{.total_steps = count_steps(settings, *corpora),
             .corpus_tokens = corpora->tokens,
             .documents = corpora->documents};
  for (const NamedParameter& parameter : trained_parameters(model)) dry.parameters += parameter.tensor.numel();
  dry.batches = make_batches(settings, *corpora, pieces, dry.total_steps).make(0);
  return dry;
}

}  // namespace deberta::train
