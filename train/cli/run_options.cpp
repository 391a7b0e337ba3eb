// Collects the settings of a run, and records the options that define it.
#include "train/cli/run_options.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked.h"
#include "base/file.h"
#include "deberta/error.h"
#include "deberta/library.h"
#include "options/duration.h"
#include "program/model_options.h"
#include "train/cli/search_process.h"
#include "train/state/checkpoint_folder.h"

namespace deberta::train {
namespace {

// Those that change nothing in the weights or the log of a run that goes on: they may differ. The tokenizer's files are
// compared with the data, and the first weights are in the past.
constexpr auto kFree = std::to_array<std::string_view>({"quiet",
                                                        "config",
                                                        "print-config",
                                                        "output-dir",
                                                        "model",
                                                        "generator-model",
                                                        "generator-init",
                                                        "teacher",
                                                        "card-base-model",
                                                        "card-license",
                                                        "card-language",
                                                        "card-datasets",
                                                        "tokenizer-name",
                                                        "cache-dir",
                                                        "threads",
                                                        "prefetch",
                                                        "logging-steps",
                                                        "save-steps",
                                                        "save-total-limit",
                                                        "max-time",
                                                        "eval-steps",
                                                        "eval-lines",
                                                        "resume",
                                                        "resume-override",
                                                        "dry-run",
                                                        "progress",
                                                        "auto-find-batch-size",
                                                        "find-lr",
                                                        "train-file",
                                                        "validation-file",
                                                        "labels-file",
                                                        "validation-labels-file",
                                                        "early-stopping-patience"});

// Options that only the reports speak of.
constexpr auto kTold = std::to_array<std::string_view>(
    {"model", "teacher", "tokenizer-name", "train-file", "validation-file", "kernels", "dtype", "threads",
     "card-base-model", "card-license", "card-language", "card-datasets"});

constexpr const char* kAccumulation = "gradient-accumulation-steps";
constexpr const char* kDtype = "dtype";

// That of the run so far, else the one that is faster here.
Precision automatic_precision(const RunOptions& options, const std::string& folder) {
  const std::string recorded = options.resume == ResumeChoice::kAuto ? recorded_option(folder, kDtype) : "";
  if (recorded.empty()) return faster_precision(options.kernels);
  return recorded == to_string(Precision::kBf16) ? Precision::kBf16 : Precision::kFp32;
}

// "org/name" stays as it is.
std::string public_name(const std::string& text) {
  if (!is_directory(text) && !is_regular_file(text)) return text;
  const std::filesystem::path path = std::filesystem::path(text + "/").lexically_normal().parent_path();
  return path.filename().string();
}

// Data and origin as the reports show them. Files and folders are named without the folders that they are in.
Details details_of_run(const Options& options) {
  Details details{{"verb", options.verb()}, {"version", std::string(version())}};
  for (const OptionRow* row : options_of(options.verb())) {
    if (std::ranges::find(kTold, row->name) == kTold.end()) continue;
    const bool has_files = row->type == OptionType::kFiles;
    std::string names;
    for (const std::string& name : has_files ? options.files(*row) : std::vector{options.text(*row)})
      names += (names.empty() ? "" : ", ") + (row->name.starts_with("card-") ? name : public_name(name));
    if (!names.empty()) details.emplace_back(row->name, names);
  }
  return details;
}

// Those that change the weights or the log, by name, as text.
std::map<std::string, std::string> options_of_run(const Options& options) {
  std::map<std::string, std::string> named;
  for (const OptionRow* row : options_of(options.verb())) {
    if (std::ranges::find(kFree, row->name) == kFree.end()) named.emplace(row->name, options.text(*row));
  }
  return named;
}

DecayShape shape_of(DecayChoice decay) {
  if (decay == DecayChoice::kLinear) return DecayShape::kLinear;
  return decay == DecayChoice::kCosine ? DecayShape::kCosine : DecayShape::kOneMinusSqrt;
}

// An option that the schedule does not read would change nothing.
void refuse_decay(const RunOptions& options) {
  if (options.lr_scheduler_type == "warmup_stable_decay") return;
  const bool is_steps = options.lr_decay_steps.is_given();
  if (!is_steps && !options.lr_decay_type.is_given()) return;
  throw Error(ErrorCode::kUsage, is_steps ? "--lr-decay-steps" : "--lr-decay-type",
              "expected --lr-scheduler-type warmup_stable_decay with it, got " + options.lr_scheduler_type);
}

}  // namespace

void describe_run(const Options& options, const WorkplaceSettings& workplace, RunSettings& run) {
  const std::string dtype(to_string(workplace.precision));
  run.options = options_of_run(options);
  run.options[kDtype] = dtype;
  std::erase_if(run.overridden, [](const std::string& name) {
    return std::ranges::find(kFree, name) != kFree.end();
  });  // they may differ
  run.details = details_of_run(options);
  for (auto& [name, value] : run.details) {
    if (name == kDtype) value = dtype;
  }
}

bool choose_accumulation(const RunOptions& options, RunSettings& run, size_t& accumulation, const RunHooks& hooks,
                         const std::function<std::optional<size_t>()>& find) {
  if (!options.auto_find_batch_size) return true;
  std::optional<size_t> chosen = parse_number<size_t>(recorded_option(run.output, kAccumulation));
  if (!chosen) {
    chosen = find_in_child(find);
    if (!chosen) return false;
    hooks.on_note("a step is computed in " + std::to_string(*chosen) + (*chosen == 1 ? " part" : " parts"));
  }
  accumulation = *chosen;
  run.options[kAccumulation] = std::to_string(accumulation);
  return true;
}

std::vector<std::string> added_tokens(const std::vector<std::string>& requested) {
  constexpr std::string_view kNames = "nt\\", kMeanings = "\n\t\\";
  std::vector<std::string> tokens;
  for (const std::string& text : requested) {
    std::string token;
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\') {
        token += text[i];
        continue;
      }
      const size_t name = ++i < text.size() ? kNames.find(text[i]) : kNames.npos;
      if (name == kNames.npos)
        throw Error(ErrorCode::kUsage, "--add-tokens",
                    "expected \\n, \\t or \\\\ for a backslash, got \"" + text + "\"");
      token += kMeanings[name];
    }
    tokens.push_back(std::move(token));
  }
  return tokens;
}

void say_precision(const RunOptions& options, const WorkplaceSettings& workplace, const RunHooks& hooks) {
  if (options.dtype != DtypeChoice::kAuto || workplace.precision == Precision::kFp32) return;
  hooks.on_note("products are in bf16, which is faster than fp32 here; --dtype fp32 computes all in fp32");
}

WorkplaceSettings workplace_settings(const RunOptions& options, const std::string& folder) {
  return {.threads = options.threads,
          .kernels = options.kernels,
          .precision = options.dtype == DtypeChoice::kAuto ? automatic_precision(options, folder)
                                                           : program::precision_of(options.dtype),
          .recomputes_layers = options.gradient_checkpointing};
}

RunSettings run_settings(const RunOptions& options, const OptimizerSettings& optimizer) {
  RunSettings run;
  run.output = options.output_dir;
  refuse_decay(options);
  run.schedule = options.lr_scheduler_type;
  run.schedule_settings.decay = options.lr_decay_steps.value;
  run.schedule_settings.shape = shape_of(options.lr_decay_type.value);
  run.max_norm = optimizer.max_grad_norm;
  run.seed = options.seed;
  run.logging_steps = options.logging_steps;
  run.save_steps = options.save_steps;
  run.save_total_limit = options.save_total_limit;
  run.eval_steps = options.eval_steps;
  run.max_seconds = parse_duration(options.max_time, "--max-time");
  run.resumes = options.resume == ResumeChoice::kAuto;
  run.overridden = options.resume_override;
  return run;
}

}  // namespace deberta::train
