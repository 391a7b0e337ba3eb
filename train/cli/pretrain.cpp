// The verb `pretrain`: options to the settings of a run, and what a run reports to people.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/checked.h"
#include "deberta/error.h"
#include "options/verb_options.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/note.h"
#include "program/output.h"
#include "program/progress_printer.h"
#include "train/cli/optimizer_options.h"
#include "train/cli/verbs.h"
#include "train/data/describe.h"
#include "train/loop/pretrain.h"

namespace deberta::train {
namespace {

// ---- options to settings

// Options that change nothing in the weights or the log of a run that goes on: they may differ. The tokenizer's files
// are compared with the corpora, and the first weights are in the past.
constexpr auto kFree = std::to_array<std::string_view>(
    {"quiet", "config", "print-config", "output-dir", "model", "tokenizer-name", "cache-dir", "threads", "prefetch",
     "logging-steps", "save-steps", "save-total-limit", "eval-steps", "eval-lines", "resume", "resume-override",
     "dry-run", "progress"});

std::map<std::string, std::string> options_of_run(const Options& options) {
  std::map<std::string, std::string> named;
  for (const OptionRow* row : options_of(options.verb())) {
    if (std::find(kFree.begin(), kFree.end(), row->name) == kFree.end()) named.emplace(row->name, options.text(*row));
  }
  return named;
}

double number_of(const std::string& text, const char* option) {
  const std::optional<double> number = parse_number<double>(text);
  if (!number || !(*number >= 0))
    throw Error(ErrorCode::kUsage, option, "expected numbers of at least 0, got \"" + text + "\"");
  return *number;
}

std::vector<CorpusPaths> corpora_of(const PretrainVerb& options) {
  if (options.arguments.empty())
    throw Error(ErrorCode::kUsage, "pretrain", "expected text files, folders or patterns to train on, got none");
  if (!options.source_weights.empty() && options.source_weights.size() != options.arguments.size()) {
    throw Error(ErrorCode::kUsage, "--source-weights",
                "expected " + std::to_string(options.arguments.size()) + " weights, one for each corpus, got " +
                    std::to_string(options.source_weights.size()));
  }
  std::vector<CorpusPaths> corpora;
  for (size_t i = 0; i < options.arguments.size(); ++i) {
    const double weight = options.source_weights.empty() ? 1 : number_of(options.source_weights[i], "--source-weights");
    corpora.push_back({{options.arguments[i]}, weight});
  }
  return corpora;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// --cache-dir, else deberta/tokens in the user's cache folder.
std::string cache_folder(const PretrainVerb& options) {
  if (!options.cache_dir.empty()) return options.cache_dir;
  std::string base = variable("XDG_CACHE_HOME");
  if (base.empty() && !variable("HOME").empty()) base = variable("HOME") + "/.cache";
  if (base.empty())
    throw Error(ErrorCode::kUsage, "--cache-dir",
                "expected a folder, got none, and neither XDG_CACHE_HOME nor HOME is set");
  std::error_code problem;
  std::filesystem::create_directories(base + "/deberta", problem);
  if (problem) throw Error(ErrorCode::kFileWrite, base + "/deberta", problem.message());
  return base + "/deberta/tokens";
}

RunLength length_of(const PretrainVerb& options) {
  RunLength length;
  if (options.max_steps > 0) length.steps = options.max_steps;
  if (options.max_train_tokens > 0) length.tokens = options.max_train_tokens;
  if (options.num_train_epochs > 0) length.epochs = options.num_train_epochs;
  if (int{length.steps.has_value()} + int{length.tokens.has_value()} + int{length.epochs.has_value()} != 1) {
    throw Error(ErrorCode::kUsage, "pretrain",
                "expected one of --max-steps, --max-train-tokens and --num-train-epochs: how long the run is");
  }
  return length;
}

DocumentBoundary boundary_of(BoundaryChoice choice) {
  if (choice == BoundaryChoice::kSep) return DocumentBoundary::kSeparator;
  return choice == BoundaryChoice::kBlock ? DocumentBoundary::kBlock : DocumentBoundary::kNone;
}

void set_model(const PretrainVerb& options, PretrainSettings& settings) {
  if (!options.model.empty()) settings.model_folder = cli::model_path(options.model);
  if (options.tokenizer_name.empty() && options.model.empty()) {
    throw Error(ErrorCode::kUsage, "--tokenizer-name",
                "expected a folder with a tokenizer, or a model to begin with (-m); `train-tokenizer` makes one");
  }
  settings.tokenizer_folder =
      options.tokenizer_name.empty() ? settings.model_folder : cli::tokenizer_path(options.tokenizer_name);
  settings.new_model = {.name = options.config_name, .overrides = options.config_overrides};
  settings.decoder_passes = options.decoder_passes.value;
}

void set_optimizer(const PretrainVerb& options, PretrainSettings& settings) {
  const OptimizerSettings& given = options.optimizer;
  settings.adam = adam_options(given);
  settings.schedule = options.lr_scheduler_type;
  settings.schedule_settings.warmup = options.warmup_steps;
  settings.learning_rate = given.learning_rate;
  settings.max_norm = given.max_grad_norm;
}

PretrainSettings settings_of(const PretrainVerb& options) {
  PretrainSettings settings{.output = options.output_dir, .corpora = corpora_of(options)};
  settings.length = length_of(options);
  if (settings.output.empty() && !options.dry_run)
    throw Error(ErrorCode::kUsage, "--output-dir", "expected a folder for the model, got none");
  set_model(options, settings);
  set_optimizer(options, settings);
  settings.corpus.holds_out_every = options.hold_out_every;
  settings.boundary = boundary_of(options.document_boundary);
  settings.cache_folder = cache_folder(options);
  settings.objective = options.objective == ObjectiveChoice::kCausal ? Objective::kCausal : Objective::kMasked;
  settings.max_tokens = options.max_tokens;
  settings.long_tokens = options.long_tokens;
  settings.long_share = options.long_share;
  settings.sequences_per_step = options.batch_size;
  settings.accumulation = options.gradient_accumulation_steps;
  settings.masks.rate = options.mlm_probability;
  settings.masks.max_gram = options.max_gram;
  settings.masks.has_uniform_tail = options.uniform_tail;
  settings.source_exponent = options.source_exponent;
  settings.seed = options.seed;
  settings.threads = options.threads;
  settings.kernels = options.kernels;
  settings.prefetch = options.prefetch;
  settings.logging_steps = options.logging_steps;
  settings.save_steps = options.save_steps;
  settings.save_total_limit = options.save_total_limit;
  settings.eval_steps = options.eval_steps;
  settings.eval_lines = options.eval_lines;
  settings.resumes = options.resume == ResumeChoice::kAuto;
  settings.overridden = options.resume_override;
  return settings;
}

// ---- reports

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string describe(const Metrics& metrics) {
  std::string text;
  for (const auto& [name, value] : metrics) text += (text.empty() ? "" : ", ") + name + " " + short_number(value);
  return text;
}

std::string_view unit_of(Phase phase) {
  return phase == Phase::kReading ? "MB" : phase == Phase::kTraining ? "steps" : "lines";
}

// Shows where a run is, with a meter of its own for each phase that takes long.
class Reporter {
 public:
  explicit Reporter(ShowProgress show) : show_(show) {}

  void progress(const RunProgress& now) {
    if (now.phase != phase_) end_phase();
    phase_ = now.phase;
    if (!now.fraction) return;
    constexpr uint64_t kMegabyte = 1000000;
    const uint64_t done = now.phase == Phase::kReading ? now.done / kMegabyte : now.done;
    if (!printer_) {
      printer_.emplace(show_, true, ProgressUnits{.items = unit_of(now.phase), .tokens = "tokens"});
      printer_->begin(done, now.tokens, now.fraction);  // a run that goes on has done something before
    }
    printer_->update(done, now.tokens, now.fraction);
  }
  void say(const std::string& text) {
    if (printer_) printer_->clear();
    cli::note(text);
  }
  void end_phase() {
    if (printer_) printer_->clear();
    printer_.reset();
  }

 private:
  ShowProgress show_;
  std::optional<cli::ProgressPrinter> printer_;
  std::optional<Phase> phase_;
};

StopRequest stop_request() {
  if (cli::interrupted() != 0) return StopRequest::kStop;
  return cli::take_save_request() ? StopRequest::kSave : StopRequest::kNone;
}

RunHooks hooks_of(Reporter& reporter) {
  return {.on_progress = [&](const RunProgress& now) { reporter.progress(now); },
          .on_log =
              [&](int64_t step, const Metrics& metrics) {
                reporter.say("step " + std::to_string(step) + ": " + describe(metrics));
              },
          .on_note = [&](const std::string& text) { reporter.say(text); },
          .stop = stop_request};
}

// One sequence: masked pieces as {what is read|what belongs there}.
std::string describe(const DescribedSequence& sequence) {
  std::string text;
  for (const DescribedPiece& piece : sequence) {
    text += text.empty() ? "" : " ";
    text += piece.is_predicted ? "{" + piece.read + "|" + piece.label + "}" : piece.read;
  }
  return text;
}

int show_dry_run(const PretrainSettings& settings, const RunHooks& hooks, Reporter& reporter) {
  const std::optional<DryRun> dry = dry_run(settings, hooks);
  reporter.end_phase();
  if (!dry) return cli::interrupted();
  const Tokenizer tokenizer = Tokenizer::load(settings.tokenizer_folder);
  constexpr size_t kShown = 3;
  const BatchDescription first = describe(dry->batches, tokenizer, kShown, settings.objective == Objective::kCausal);
  const auto percent = [](double share) { return short_number(100 * share) + " %"; };
  std::string text = "parameters\t" + std::to_string(dry->parameters) + "\ncorpus tokens\t" +
                     std::to_string(dry->corpus_tokens) + "\ndocuments\t" + std::to_string(dry->documents) +
                     "\nsteps\t" + std::to_string(dry->total_steps) + "\nsequences of the first step\t" +
                     std::to_string(first.sequences) + "\ntokens of the first step\t" + std::to_string(first.tokens) +
                     "\nto predict\t" + std::to_string(first.predictions) + "\nunknown pieces\t" +
                     percent(first.unknown_share()) + "\nbyte pieces\t" + percent(first.spelled_share()) + "\n";
  for (const DescribedSequence& sequence : first.first) text += "sequence\t" + describe(sequence) + "\n";
  cli::print(text);
  return 0;
}

void report(const PretrainSettings& settings, const PretrainResult& result) {
  std::string text = std::to_string(result.steps) + " of " + std::to_string(result.total_steps) + " steps, " +
                     std::to_string(result.tokens) + " tokens, " + short_number(result.seconds) + " s";
  if (!result.evaluation.empty()) text += "; " + describe(result.evaluation);
  if (result.is_degraded) text += "; the newest checkpoint was damaged, an older one was taken";
  cli::note(text);
  if (result.is_finished) {
    cli::note("the model is in " + settings.output);
  } else {
    cli::note("stopped; the same command goes on from the last checkpoint in " + settings.output);
  }
}

}  // namespace

int run_pretrain(const Options& options) {
  cli::install_save_signal();
  const PretrainVerb given(options);
  PretrainSettings settings = settings_of(given);
  settings.options = options_of_run(options);
  Reporter reporter(given.progress);
  const RunHooks hooks = hooks_of(reporter);
  if (given.dry_run) return show_dry_run(settings, hooks, reporter);
  const PretrainResult result = pretrain(settings, hooks);
  reporter.end_phase();
  report(settings, result);
  return result.is_finished ? 0 : cli::interrupted();
}

}  // namespace deberta::train
