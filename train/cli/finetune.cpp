// The verb `finetune`: options to the settings of a run, and what a run reports to people.
#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iterator>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/file.h"
#include "data/cells.h"
#include "data/row_form.h"
#include "deberta/error.h"
#include "eval/example_files.h"
#include "eval/questions.h"
#include "options/verb_options.h"
#include "pipeline/entity_model.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/note.h"
#include "program/output.h"
#include "text/tokenizer_settings.h"
#include "train/cli/adversarial_options.h"
#include "train/cli/extraction_options.h"
#include "train/cli/fallback_note.h"
#include "train/cli/optimizer_options.h"
#include "train/cli/part_options.h"
#include "train/cli/ranking_options.h"
#include "train/cli/run_options.h"
#include "train/cli/run_reporter.h"
#include "train/cli/teacher_options.h"
#include "train/cli/verbs.h"
#include "train/data/data_notes.h"
#include "train/finetune/evaluation_loss.h"
#include "train/finetune/finetune.h"
#include "train/finetune/recipe.h"
#include "train/report/folds.h"

namespace deberta::train {
namespace {

std::string listed(const std::vector<std::string>& names, size_t most = SIZE_MAX) {
  std::string text;
  for (size_t n = 0; n < std::min(names.size(), most); ++n) text += (text.empty() ? "" : ", ") + names[n];
  return names.size() > most ? text + " and " + std::to_string(names.size() - most) + " more" : text;
}

constexpr size_t kShownLabels = 200;  // of a dry run

constexpr size_t kMaxTokens = 256;    // length for a task without a published one
constexpr size_t kSpecialTokens = 2;  // [CLS] and [SEP]

const TaskRow& task_of(const FinetuneVerb& options) {
  if (options.task.empty()) throw Error(ErrorCode::kUsage, "--task", "expected the name of a task, got none");
  return find_task(options.task);
}

bool evaluates(const FinetuneVerb& options) {
  return holds_out(options) || !options.validation_file.empty();
}

void check_evaluates(const FinetuneVerb& options, const std::string& option) {
  if (evaluates(options)) return;
  throw Error(ErrorCode::kUsage, option,
              "expected evaluations to compare; name files with --validation-file, or a share of the training examples "
              "with --validation-split or --fold");
}

void check_given(const FinetuneVerb& options) {
  if (options.model.empty()) throw Error(ErrorCode::kUsage, "--model", "expected a model to begin with, got none");
  if (options.train_file.empty())
    throw Error(ErrorCode::kUsage, "--train-file", "expected labelled files to train on, got none");
  if (options.run.output_dir.empty() && !options.run.keeps_nothing())
    throw Error(ErrorCode::kUsage, "--output-dir", "expected a folder for the model, got none");
  if (options.early_stopping_patience > 0) check_evaluates(options, "--early-stopping-patience");
  if (!options.best_metric.empty()) check_evaluates(options, "--best-metric");
  check_part(options);
  refuse_streams("--validation-file", "files", options.validation_file);
}

ExampleInput input_of(const FinetuneVerb& options, const std::vector<std::string>& files,
                      const std::string& labels_file) {
  ExampleInput input;
  if (!files.empty()) input.files = find_labelled_files(files);
  input.format = parse_row_form(options.input_format);
  input.input_fields = options.input_field;
  input.label_fields = options.label_field;
  input.labels_file = labels_file;
  return input;
}

// Those of `deberta eval` with a model in this folder and no other options.
EncodingRules evaluation_rules(const TaskRow& task, const std::string& model_folder) {
  EvalVerb eval(Options("eval"));
  program::follow_folder_limits(eval.encoding, model_folder);
  EncodingRules rules = program::encoding_rules(eval.encoding);
  if (task.kind == TaskKind::kQuestion && !eval.encoding.max_tokens.value) rules.encode.max_tokens = kSquadWindowTokens;
  const bool reads_windows = task.kind == TaskKind::kTokens || task.kind == TaskKind::kExtraction;
  if (reads_windows && eval.encoding.truncate->value == TruncateChoice::kAuto) rules.long_text = LongText::kWindow;
  return rules;
}

void set_class_weights(const FinetuneVerb& options, TaskObjective& objective) {
  objective.balances_classes = options.class_weights == std::vector<std::string>{"balanced"};
  if (objective.balances_classes) return;
  for (const std::string& text : options.class_weights) {
    const std::optional<double> weight = parse_number<double>(text);
    if (!weight || !(*weight > 0))
      throw Error(ErrorCode::kUsage, "--class-weights", "expected numbers above 0 or balanced, got \"" + text + "\"");
    objective.class_weights.push_back(static_cast<float>(*weight));
  }
}

void set_lora(const FinetuneVerb& options, TaskStart& start) {
  const auto refuse = [](const char* option, const char* what) { throw Error(ErrorCode::kUsage, option, what); };
  if (options.lora_rank == 0) {
    if (options.lora_alpha.is_given()) refuse("--lora-alpha", "expected --lora-rank as well");
    if (options.lora_targets.is_given()) refuse("--lora-targets", "expected --lora-rank as well");
    return;
  }
  if (options.frozen_layers.value) refuse("--frozen-layers", "expected this or --lora-rank, got both");
  start.lora =
      LoraForm{.rank = options.lora_rank, .alpha = options.lora_alpha.value, .targets = options.lora_targets.value};
}

// A run that goes on has the same rate, whatever a later version's default is.
void set_default_rate(const FinetuneVerb& options, FinetuneSettings& settings) {
  if (options.optimizer.learning_rate.value) return;
  const ModelConfig config = load_folder_config(settings.start.model_folder);
  const std::string rate(default_learning_rate(config, settings.start.lora.has_value()));
  settings.rates.learning_rate = *parse_number<double>(rate);
  settings.run.options["learning-rate"] = rate;
}

// Sets the recipe's numbers where the options set none.
void set_hyper_parameters(const FinetuneVerb& options, FinetuneSettings& settings) {
  settings.epochs = options.num_train_epochs.value;
  settings.samples_per_step = options.batch_size.value;
  settings.rates.learning_rate = options.optimizer.learning_rate.value.value_or(0);
  settings.run.schedule_settings.warmup = options.warmup_steps.value;
  settings.start.classifier_dropout = options.cls_dropout.value;
  settings.files.training.max_tokens =
      options.max_tokens.value.value_or(published_length(*settings.files.task).value_or(kMaxTokens));
  if (options.max_steps > 0) settings.steps = options.max_steps;
  if (options.recipe == "none") return set_default_rate(options, settings);
  const bool is_sift = settings.objective.adversarial && settings.objective.adversarial->normalises_inputs;
  const Recipe recipe = find_recipe(*settings.files.task, options.recipe, is_sift);
  if (options.num_train_epochs.is_free()) settings.epochs = recipe.epochs;
  if (options.batch_size.is_free()) settings.samples_per_step = recipe.samples_per_step;
  if (options.optimizer.learning_rate.is_free()) settings.rates.learning_rate = recipe.learning_rate;
  if (options.warmup_steps.is_free()) settings.run.schedule_settings.warmup = recipe.warmup;
  if (options.cls_dropout.is_free() && recipe.classifier_dropout)
    settings.start.classifier_dropout = recipe.classifier_dropout;
  if (options.adversarial.vat_lambda.is_free() && recipe.adversarial_lambda)
    settings.objective.adversarial->lambda = *recipe.adversarial_lambda;
}

std::optional<ClassifierPooling> pooling_of(ClassifierPoolingChoice choice) {
  switch (choice) {
    case ClassifierPoolingChoice::kAuto:
      break;
    case ClassifierPoolingChoice::kFirst:
      return ClassifierPooling::kFirst;
    case ClassifierPoolingChoice::kMean:
      return ClassifierPooling::kMean;
    case ClassifierPoolingChoice::kMax:
      return ClassifierPooling::kMax;
    case ClassifierPoolingChoice::kAttention:
      return ClassifierPooling::kAttention;
  }
  return std::nullopt;
}

// The task's files with labels or entities of words are learned as they are answered, in windows; other texts where
// that is asked.
void set_windows(const FinetuneVerb& options, TaskFiles& files) {
  const TaskLoss loss = loss_of(*files.task);
  const bool has_own = loss == TaskLoss::kSpan || loss == TaskLoss::kMention;  // the task sets the length
  const TruncateChoice chosen = options.truncate.value;
  const bool is_window = chosen == TruncateChoice::kWindow;
  const auto refuse = [&](const char* expected) {
    throw Error(ErrorCode::kUsage, "--truncate",
                "expected " + std::string(expected) + " for the task " + std::string(files.task->name));
  };
  if (has_own && chosen == TruncateChoice::kRight) refuse("auto or window, as contexts are learned in windows,");
  const bool has_choices =
      loss == TaskLoss::kChoice || loss == TaskLoss::kRanking || files.task->form == ExampleForm::kCopa;
  if (has_choices && is_window)
    refuse(loss == TaskLoss::kRanking ? "auto or right, as documents have no windows,"
                                      : "auto or right, as choices have no windows,");
  TaskReading& training = files.training;
  const bool has_words = loss == TaskLoss::kTokens || loss == TaskLoss::kExtraction;
  const bool has_windows = has_own || is_window || (has_words && chosen == TruncateChoice::kAuto);
  if (options.stride.is_given() && (!has_windows || loss == TaskLoss::kMention))
    throw Error(ErrorCode::kUsage, "--stride",
                loss == TaskLoss::kMention ? "expected none: windows of this task share half of their tokens"
                                           : "expected --truncate window as well");
  training.stride = program::stride_of(options.stride, training.max_tokens);
  training.reads_windows = has_windows && !has_own;
  const size_t room = training.max_tokens - kSpecialTokens;
  if (training.reads_windows && training.stride >= room)
    throw Error(ErrorCode::kUsage, "--stride",
                "expected less than the " + std::to_string(room) + " tokens of text that a window has room for, got " +
                    std::to_string(training.stride));
  if (has_own || chosen == TruncateChoice::kAuto) return;
  files.evaluation_rules.long_text = is_window ? LongText::kWindow : LongText::kCut;
}

// A model is judged by texts at least as long as those that it learns from.
void read_as_trained(TaskFiles& files) {
  size_t& length = files.evaluation_rules.encode.max_tokens;
  const bool has_windows = files.task->kind == TaskKind::kQuestion;  // nothing is cut: of the usual length
  if (!has_windows || is_stated_length(files.training.max_tokens)) length = std::max(length, files.training.max_tokens);
}

// The metric that was named, else the task's main one; its others decide between equal evaluations.
void set_best(const FinetuneVerb& options, FinetuneSettings& settings) {
  if (!evaluates(options)) return;
  std::vector<std::string> names = metrics_of_evaluation(*settings.files.task);
  const bool has_loss = names.back() == "loss" || names.back() == "log_loss" || names.back() == "mse";
  const std::string loss = has_loss ? names.back() : "";
  if (settings.files.task->target == TaskTarget::kScore && options.label_field.size() > 1) {
    for (size_t i = 0, means = names.size(); i < means; ++i) {
      for (const std::string& score : options.label_field) names.push_back(names[i] + "_" + score);
    }
  }
  if (!options.best_metric.empty()) {
    const bool has_prefix = options.best_metric.starts_with("eval_");  // as the log has it
    std::string name = options.best_metric.substr(has_prefix ? 5 : 0);
    if (name == "loss" && has_loss) name = loss;
    const auto chosen = std::ranges::find(names, name);
    if (chosen == names.end())
      throw Error(ErrorCode::kUsage, "--best-metric",
                  "expected one of " + listed(names) + ", got \"" + options.best_metric + "\"");
    std::rotate(names.begin(), chosen, chosen + 1);
  }
  for (std::string& name : names) name.insert(0, "eval_");
  settings.run.best = BestRule{.metrics = std::move(names), .patience = options.early_stopping_patience};
}

// Weights of the rows that are trained on; evaluations have none.
void set_weights(const FinetuneVerb& options, FinetuneSettings& settings) {
  if (options.weight_field.empty()) return;
  const auto refuse = [](const std::string& what) { throw Error(ErrorCode::kUsage, "--weight-field", what); };
  if (!has_row_weights(loss_of(*settings.files.task)))
    refuse("expected a task whose rows have a class, classes or scores, got " + std::string(settings.files.task->name) +
           ", whose rows are not single samples");
  if (settings.objective.adversarial && settings.objective.adversarial->is_original)
    refuse("expected --sift-compat corrected, as the original code compares rows without weights");
  settings.files.training.input.weight_field = options.weight_field;
}

FinetuneSettings settings_of(const Options& requested, const FinetuneVerb& options) {
  check_given(options);
  FinetuneSettings settings;
  TaskFiles& files = settings.files;
  TaskStart& start = settings.start;
  files.task = &task_of(options);
  check_field_names(*files.task, options.input_field, options.label_field);
  const bool is_extraction = files.task->kind == TaskKind::kExtraction;
  start.model_folder = is_extraction ? program::weights_path(options.model) : program::model_path(options.model);
  start.model_name = options.model;
  start.added_tokens = added_tokens(options.add_tokens);
  settings.run = run_settings(options.run, options.optimizer);
  settings.run.output = folder_of_run(options);
  settings.workplace = workplace_settings(options.run, settings.run.output);
  describe_run(requested, settings.workplace, settings.run);
  files.training.input = input_of(options, options.train_file, options.labels_file);
  files.training.max_examples = options.max_train_samples;
  files.bad_rows = options.on_bad_row;
  files.training.merges_sentences = options.merge_sentences;
  files.training.ranking = ranking_rules(options, *files.task);
  files.evaluation = input_of(options, options.validation_file, options.validation_labels_file);
  if (holds_out(options)) part_training(options, files);
  files.evaluation_rules = evaluation_rules(*files.task, start.model_folder);
  settings.objective.adversarial = adversarial_options(options.adversarial);
  set_weights(options, settings);
  set_lora(options, start);
  set_extraction_options(options, settings);
  set_hyper_parameters(options, settings);
  set_windows(options, files);
  read_as_trained(files);
  set_best(options, settings);
  set_class_weights(options, settings.objective);
  settings.accumulation = options.gradient_accumulation_steps;
  start.pooling = pooling_of(options.pooling);
  settings.objective.label_smoothing = options.label_smoothing_factor;
  settings.objective.teacher_folder = teacher_folder(options.teacher);
  settings.objective.distillation = {options.teacher.weight.value, options.teacher.temperature.value};
  start.frozen_layers = options.frozen_layers.value;
  start.reinit_layers = options.reinit_layers;
  if (!options.add_tokens.empty() && (start.lora || start.frozen_layers))
    throw Error(
        ErrorCode::kUsage, "--add-tokens",
        "expected embeddings that are trained, got " + std::string(start.lora ? "--lora-rank" : "--frozen-layers"));
  if (options.reinit_layers > 0 && options.lora_rank > 0)
    throw Error(ErrorCode::kUsage, "--reinit-layers", "expected layers that are trained, got --lora-rank as well");
  settings.rates.head_learning_rate = options.head_learning_rate.value;
  settings.rates.layer_decay = options.layer_decay;
  settings.optimizer = optimizer_options(options.optimizer, options.run);
  return settings;
}

// One sequence of the first step, as pieces.
std::string describe(const TaskBatch& batch, size_t sequence, const Tokenizer& tokenizer) {
  std::string text;
  const auto begin = static_cast<size_t>(batch.input.starts[sequence]);
  const auto end = static_cast<size_t>(batch.input.starts[sequence + 1]);
  for (size_t t = begin; t < end; ++t)
    text += (text.empty() ? "" : " ") + std::string(tokenizer.piece(batch.input.ids_T[t]));
  return text;
}

int show_dry_run(const FinetuneSettings& settings, const RunHooks& hooks, Reporter& reporter) {
  const std::optional<FinetuneDryRun> dry = dry_run(settings, hooks);
  reporter.end_phase();
  if (!dry) return program::interrupted();
  const TaskSamples& samples = dry->samples;
  std::string text = "parameters\t" + std::to_string(dry->parameters) + "\nexamples\t" +
                     std::to_string(samples.examples) + "\nwithout a label\t" + std::to_string(samples.unlabelled) +
                     "\nbad rows that are left out\t" + std::to_string(samples.bad) + "\nsamples\t" +
                     std::to_string(samples.samples.size()) + "\ntexts in windows\t" +
                     std::to_string(samples.in_windows) + "\nsequences that lost their ends\t" +
                     std::to_string(samples.cut) + "\nsteps\t" + std::to_string(dry->total_steps) + "\n";
  if (samples.held_out > 0) text += "held out\t" + describe_held_out(samples) + "\n";
  if (samples.has_weights) text += "of weight 0\t" + std::to_string(samples.weightless) + "\n";
  if (!samples.labels.empty())
    text += (samples.loss == TaskLoss::kScore ? "scores\t" : "labels\t") + listed(samples.labels, kShownLabels) + "\n";
  if (samples.loss == TaskLoss::kSpan)
    text += "windows without an answer\t" + std::to_string(samples.unanswered) + "\n";
  if (samples.unordered > 0) text += "queries that teach no order\t" + std::to_string(samples.unordered) + "\n";
  for (const std::string& note : notes_of(samples)) text += "note\t" + note + "\n";
  for (const std::string& name : dry->new_layers) text += "new layer\t" + name + "\n";
  for (const std::string& note : dry->notes) text += "note\t" + note + "\n";
  for (const std::string& name : dry->new_tensors) text += "new tensor\t" + name + "\n";
  const Tokenizer tokenizer = settings.start.tokenizer().load();
  constexpr size_t kShown = 3;
  const TaskBatch& first = dry->batches.front();
  for (size_t b = 0; b < std::min(kShown, first.input.sequences()); ++b)
    text += "sequence\t" + tsv_cell(describe(first, b, tokenizer)) + "\n";
  program::print(text);
  return 0;
}

void tell_folds(const std::string& folder, size_t folds) {
  const size_t left = join_folds(folder, folds);
  program::note(left > 0 ? "folds finished in " + folder + ": " + std::to_string(folds - left) + " of " +
                               std::to_string(folds)
                         : "all folds are finished: their means are in " + folder + "/all_results.json");
}

}  // namespace

int run_finetune(const Options& options) {
  program::watch_signal(SIGUSR1);
  const FinetuneVerb requested(options);
  FinetuneSettings settings = settings_of(options, requested);
  Reporter reporter(requested.run.progress, {"examples"});
  const RunHooks hooks = with_fallback_note(hooks_of(reporter), requested.run.kernels);
  say_precision(requested.run, settings.workplace, hooks);
  if (requested.run.dry_run) return show_dry_run(settings, hooks, reporter);
  if (requested.run.find_lr) return show_rates(search_rates(settings, hooks), reporter);
  if (!choose_accumulation(requested.run, settings.run, settings.accumulation, hooks,
                           [&] { return find_accumulation(settings, hooks); })) {
    return program::interrupted();
  }
  const std::optional<Fold> fold = fold_of(requested);
  if (fold) {
    check_same_folds(requested.run.output_dir, fold->number, fold->of, settings.run.options);
    std::error_code failed;  // the run reports it
    std::filesystem::create_directory(requested.run.output_dir, failed);
  }
  const RunResult result = finetune(settings, hooks);
  reporter.end_phase();
  report(settings.run, result);
  if (!result.is_finished) return program::interrupted();
  if (fold) tell_folds(requested.run.output_dir, fold->of);
  return 0;
}

}  // namespace deberta::train
