#include "train/cli/run_options.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <vector>

#include "base/checked.h"
#include "base/file.h"
#include "deberta/library.h"
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
                                                        "tokenizer-name",
                                                        "cache-dir",
                                                        "threads",
                                                        "prefetch",
                                                        "logging-steps",
                                                        "save-steps",
                                                        "save-total-limit",
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
constexpr auto kTold =
    std::to_array<std::string_view>({"model", "tokenizer-name", "train-file", "validation-file", "kernels", "threads"});

constexpr const char* kAccumulation = "gradient-accumulation-steps";

// Of the newest checkpoint, if there is one.
std::optional<size_t> accumulation_of(const std::string& output) {
  if (!is_directory(output)) return std::nullopt;
  const std::optional<FoundCheckpoint> found = find_checkpoint(output);
  if (!found) return std::nullopt;
  const auto option = found->state.options.find(kAccumulation);
  return option == found->state.options.end() ? std::nullopt : parse_number<size_t>(option->second);
}

// "org/name" stays as it is.
std::string public_name(const std::string& text) {
  if (!is_directory(text) && !is_regular_file(text)) return text;
  const std::filesystem::path path = std::filesystem::path(text + "/").lexically_normal().parent_path();
  return path.filename().string();
}

}  // namespace

Details details_of_run(const Options& options) {
  Details details{{"verb", options.verb()}, {"version", std::string(version())}};
  for (const OptionRow* row : options_of(options.verb())) {
    if (std::ranges::find(kTold, row->name) == kTold.end()) continue;
    const bool has_files = row->type == OptionType::kFiles;
    std::string names;
    for (const std::string& name : has_files ? options.files(*row) : std::vector{options.text(*row)})
      names += (names.empty() ? "" : ", ") + public_name(name);
    if (!names.empty()) details.emplace_back(row->name, names);
  }
  return details;
}

std::map<std::string, std::string> options_of_run(const Options& options) {
  std::map<std::string, std::string> named;
  for (const OptionRow* row : options_of(options.verb())) {
    if (std::ranges::find(kFree, row->name) == kFree.end()) named.emplace(row->name, options.text(*row));
  }
  return named;
}

bool choose_accumulation(const RunOptions& options, RunSettings& run, size_t& accumulation, const RunHooks& hooks,
                         const std::function<std::optional<size_t>()>& find) {
  if (!options.auto_find_batch_size) return true;
  std::optional<size_t> chosen = accumulation_of(run.output);
  if (!chosen) {
    chosen = find_in_child(find);
    if (!chosen) return false;
    hooks.on_note("a step is computed in " + std::to_string(*chosen) + (*chosen == 1 ? " part" : " parts"));
  }
  accumulation = *chosen;
  run.options[kAccumulation] = std::to_string(accumulation);
  return true;
}

WorkplaceSettings workplace_settings(const RunOptions& options) {
  return {.threads = options.threads, .kernels = options.kernels, .recomputes_layers = options.gradient_checkpointing};
}

RunSettings run_settings(const RunOptions& options, const OptimizerSettings& optimizer) {
  RunSettings run;
  run.output = options.output_dir;
  run.schedule = options.lr_scheduler_type;
  run.max_norm = optimizer.max_grad_norm;
  run.seed = options.seed;
  run.logging_steps = options.logging_steps;
  run.save_steps = options.save_steps;
  run.save_total_limit = options.save_total_limit;
  run.eval_steps = options.eval_steps;
  run.resumes = options.resume == ResumeChoice::kAuto;
  run.overridden = options.resume_override;
  return run;
}

}  // namespace deberta::train
