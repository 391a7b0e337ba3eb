// The verb `pretrain`: options to the settings of a run, and what a run reports to people.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/checked.h"
#include "data/cells.h"
#include "deberta/error.h"
#include "options/verb_options.h"
#include "program/interrupt.h"
#include "program/model_options.h"
#include "program/note.h"
#include "program/output.h"
#include "program/progress_printer.h"
#include "train/cli/fallback_note.h"
#include "train/cli/optimizer_options.h"
#include "train/cli/recipe_options.h"
#include "train/cli/replaced_token_options.h"
#include "train/cli/run_options.h"
#include "train/cli/run_reporter.h"
#include "train/cli/verbs.h"
#include "train/data/describe.h"
#include "train/pretrain/pretrain.h"
#include "train/step/generator_files.h"

namespace deberta::train {
namespace {

// ---- options to settings

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

// Without links, and with a slash at the end.
std::filesystem::path whole_path(const std::string& folder) {
  std::error_code none;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(folder, none), none) / "";
}

// The folder of a run holds nothing else: the tokens' folder may not be it or lie in it.
void check_cache_folder(const std::string& cache, const std::string& output) {
  if (output.empty()) return;
  const std::filesystem::path inner = whole_path(cache), outer = whole_path(output);
  if (std::mismatch(outer.begin(), std::prev(outer.end()), inner.begin(), inner.end()).first == std::prev(outer.end()))
    throw Error(ErrorCode::kUsage, "--cache-dir",
                "expected a folder outside that of the model, " + output + ", got " + cache);
}

RunLength length_of(const PretrainVerb& options) {
  RunLength length;
  if (options.max_steps > 0) length.steps = options.max_steps;
  if (options.max_train_tokens > 0) length.tokens = options.max_train_tokens;
  if (options.num_train_epochs > 0) length.epochs = options.num_train_epochs;
  if (int{length.steps.has_value()} + int{length.tokens.has_value()} + int{length.epochs.has_value()} != 1) {
    throw Error(
        ErrorCode::kUsage, "pretrain",
        "expected one of --max-steps, --max-train-tokens and --num-train-epochs, which set the length of the run");
  }
  return length;
}

DocumentBoundary boundary_of(BoundaryChoice choice) {
  if (choice == BoundaryChoice::kSep) return DocumentBoundary::kSeparator;
  return choice == BoundaryChoice::kBlock ? DocumentBoundary::kBlock : DocumentBoundary::kNone;
}

BatchSettings batches_of(const PretrainVerb& options) {
  BatchSettings batches;
  batches.length = length_of(options);
  batches.boundary = boundary_of(options.document_boundary);
  batches.max_tokens = options.max_tokens;
  batches.long_tokens = options.long_tokens;
  batches.long_share = options.long_share;
  batches.short_share = options.short_share;
  batches.sequences_per_step = options.batch_size;
  batches.accumulation = options.gradient_accumulation_steps;
  batches.masks.rate = options.mlm_probability;
  batches.masks.max_gram = options.max_gram.value;
  batches.masks.has_uniform_tail = options.uniform_tail;
  batches.source_exponent = options.source_exponent;
  batches.prefetch = options.prefetch;
  return batches;
}

// A folder with the files of a generator alone is no model to other verbs.
std::string model_or_generator_path(const std::string& name) {
  const std::string root = program::model_root(name);
  return has_generator_alone(root) ? root : program::model_path(name);
}

void set_model(const PretrainVerb& options, ModelStart& start) {
  const bool is_pair = options.objective == ObjectiveChoice::kRtd;  // which begins with a discriminator
  if (!options.model.empty())
    start.model_folder = is_pair ? program::model_path(options.model) : model_or_generator_path(options.model);
  if (options.tokenizer_name.empty() && options.model.empty()) {
    throw Error(ErrorCode::kUsage, "--tokenizer-name",
                "expected a folder with a tokenizer, or a model to begin with (-m); `train-tokenizer` makes one");
  }
  start.tokenizer_folder =
      options.tokenizer_name.empty() ? start.model_folder : program::tokenizer_path(options.tokenizer_name);
  start.added_tokens = added_tokens(options.add_tokens);
  start.has_new_embeddings = options.new_embeddings;
  if (options.new_embeddings && options.model.empty())
    throw Error(ErrorCode::kUsage, "--new-embeddings", "expected a model to begin with (-m), got none");
  start.new_model = {.name = options.config_name, .overrides = options.config_overrides};
  start.decoder_passes = options.decoder_passes.value;
}

void set_objective(const PretrainVerb& options, PretrainSettings& settings) {
  const Objective objective = settings.start.objective = objective_of(options.objective);
  if (objective == Objective::kReplaced && options.max_gram.is_given())
    throw Error(ErrorCode::kUsage, "--max-gram", "expected none with --objective rtd, which masks single pieces");
  check_replaced_tokens(options.replaced_tokens, objective);
  for (const Setting<int64_t>* setting : {&options.generator_layers, &options.generator_warmup})
    check_objective(setting->is_given(), *setting->row, objective);
  check_objective(options.generator_init.is_given(), *options.generator_init.row, objective);
  const ReplacedTokenOptions& requested = options.replaced_tokens;
  PairSettings& pair = settings.pair;
  pair.options = pair_options(requested);
  pair.discriminator_rate = requested.discriminator_rate.value;
  pair.steps_of_generator_alone = options.generator_warmup.value;
  pair.generator_layers = options.generator_layers.value;
  if (requested.generator_model.value.empty()) {
    pair.is_generator_copied = options.generator_init.value == GeneratorInitChoice::kDiscriminator ||
                               (options.generator_init.value == GeneratorInitChoice::kAuto &&
                                objective == Objective::kReplaced && !options.model.empty());
  } else {
    pair.generator_folder = model_or_generator_path(requested.generator_model.value);
    if (options.generator_init.is_given() || options.generator_layers.is_given())
      throw Error(ErrorCode::kUsage, "--generator-model",
                  "expected no --generator-init and no --generator-layers, since the folder's model determines both");
  }
}

PretrainSettings settings_of(const PretrainVerb& options) {
  PretrainSettings settings;
  settings.corpus.corpora = corpora_of(options);
  settings.run = run_settings(options.run, options.optimizer);
  settings.run.schedule_settings.warmup = options.warmup_steps;
  settings.batches = batches_of(options);
  if (settings.run.output.empty() && !options.run.keeps_nothing())
    throw Error(ErrorCode::kUsage, "--output-dir", "expected a folder for the model, got none");
  set_model(options, settings.start);
  settings.optimizer = optimizer_options(options.optimizer, options.run);
  settings.learning_rate = *options.optimizer.learning_rate.value;
  settings.corpus.options.holds_out_every = options.hold_out_every;
  settings.corpus.cache_folder = cache_folder(options);
  check_cache_folder(settings.corpus.cache_folder, settings.run.output);
  set_objective(options, settings);
  settings.workplace = workplace_settings(options.run, options.run.output_dir);
  settings.corpus.eval_lines = options.eval_lines;
  return settings;
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

std::string percent(double share) {
  return short_number(100 * share) + " %";
}

// What is read: all of it, and which share of the sequences is drawn from each corpus.
std::string describe(const std::vector<CorpusPart>& parts, const std::vector<CorpusPaths>& corpora) {
  uint64_t tokens = 0, documents = 0;
  std::string each;
  for (size_t i = 0; i < parts.size(); ++i) {
    tokens += parts[i].tokens;
    documents += parts[i].documents;
    each += "from " + tsv_cell(corpora[i].paths.front()) + "\t" + percent(parts[i].share) + " of the sequences, of " +
            std::to_string(parts[i].tokens) + " tokens in " + std::to_string(parts[i].documents) + " documents\n";
  }
  return "corpus tokens\t" + std::to_string(tokens) + "\ndocuments\t" + std::to_string(documents) + "\n" + each;
}

// The masks of the first step beside those that are asked for.
std::string describe_masks(const BatchDescription& first, const MaskOptions& requested) {
  const auto share = [](size_t count, size_t of) {
    return of == 0 ? 0 : static_cast<double>(count) / static_cast<double>(of);
  };
  const size_t all = first.predictions;
  return "predicted tokens\t" + percent(share(all, first.tokens)) + "; asked " + percent(requested.rate) +
         "\nof them\t[MASK] " + percent(share(first.masked, all)) + ", kept " + percent(share(first.kept, all)) +
         ", random " + percent(share(first.replaced, all)) + "; asked " + percent(requested.mask_share) + ", " +
         percent(requested.keep_share) + ", " +
         percent(std::max(0.0, 1 - requested.mask_share - requested.keep_share)) + "\n";
}

int show_dry_run(const PretrainSettings& settings, const RunHooks& hooks, Reporter& reporter) {
  const std::optional<DryRun> dry = dry_run(settings, hooks);
  reporter.end_phase();
  if (!dry) return program::interrupted();
  const Tokenizer tokenizer = settings.start.tokenizer().load();
  constexpr size_t kShown = 3;
  const bool is_causal = settings.start.objective == Objective::kCausal;
  const BatchDescription first = describe(dry->batches, tokenizer, kShown, is_causal);
  std::string text = "parameters\t" + std::to_string(dry->parameters) + "\n" +
                     describe(dry->corpora, settings.corpus.corpora) + "steps\t" + std::to_string(dry->total_steps) +
                     "\nsequences of the first step\t" + std::to_string(first.sequences) +
                     "\ntokens of the first step\t" + std::to_string(first.tokens) + "\nto predict\t" +
                     std::to_string(first.predictions) + "\nunknown pieces\t" + percent(first.unknown_share()) +
                     "\nbyte pieces\t" + percent(first.spelled_share()) + "\n";
  if (!is_causal) text += describe_masks(first, dry->masks);
  for (const std::string& note : dry->notes) text += "note\t" + note + "\n";
  for (const DescribedSequence& sequence : first.first) text += "sequence\t" + tsv_cell(describe(sequence)) + "\n";
  program::print(text);
  return 0;
}

}  // namespace

int run_pretrain(const Options& given) {
  program::watch_signal(SIGUSR1);
  const Options options = with_recipe(given);
  const PretrainVerb requested(options);
  PretrainSettings settings = settings_of(requested);
  describe_run(options, settings.workplace, settings.run);
  Reporter reporter(requested.run.progress, {"MB", 1000000});
  const RunHooks hooks = with_fallback_note(hooks_of(reporter), requested.run.kernels);
  say_precision(requested.run, settings.workplace, hooks);
  if (requested.run.dry_run) return show_dry_run(settings, hooks, reporter);
  if (requested.run.find_lr) return show_rates(search_rates(settings, hooks), reporter);
  if (!choose_accumulation(requested.run, settings.run, settings.batches.accumulation, hooks,
                           [&] { return find_accumulation(settings, hooks); })) {
    return program::interrupted();
  }
  const RunResult result = pretrain(settings, hooks);
  reporter.end_phase();
  const bool is_pair = settings.start.objective == Objective::kReplaced;
  report(settings.run, result,
         is_pair ? "the generator (for fill) and the discriminator (for detect) are" : "the model is");
  return result.is_finished ? 0 : program::interrupted();
}

}  // namespace deberta::train
